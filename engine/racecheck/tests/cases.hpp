// SPDX-License-Identifier: MIT
// What the checker's test programs have in common: memory, which is never freed since each run is
// one case, and the cases themselves, which are run by their names.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <type_traits>

template <class T = int>
T* fresh(std::size_t count) {
  T* made = nullptr;
  if (cudaMalloc(&made, count * sizeof(T)) == cudaSuccess) return made;
  std::puts("no device, or no memory");
  std::exit(77);
}

template <class T = int>
T* zeros(std::size_t count) {
  T* const made = fresh<T>(count);
  if (cudaMemset(made, 0, count * sizeof(T)) != cudaSuccess) std::exit(77);
  return made;
}

// A launch of a kernel whose parameters are pointers, each to zeros of its own.
template <class... Value>
std::function<void()> on_zeros(void (*kernel)(Value*...), dim3 blocks, dim3 threads) {
  constexpr std::size_t count = 256;
  return [=] { kernel<<<blocks, threads>>>(zeros<std::remove_cv_t<Value>>(count)...); };
}

struct test_case {
  const char* name;
  std::function<void()> run;
};

// The case that the program's one argument names; returns the program's exit status.
template <class Cases>
int run_case(const Cases& cases, int count, char** words) {
  for (const auto& each : cases) {
    if (count != 2 || std::strcmp(each.name, words[1]) != 0) continue;
    each.run();
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) std::puts(cudaGetErrorString(error));
    return error == cudaSuccess ? 0 : 1;
  }
  std::fprintf(stderr, "there is no case %s\n", count > 1 ? words[1] : "without a name");
  return 2;
}
