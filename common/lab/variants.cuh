// SPDX-License-Identifier: MIT
// Programs that have several variants of one kernel, and run the one that their argument names.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <initializer_list>

#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace lab {

// `size` elements of device memory, each of them 0. Throws what device_buffer throws.
template <class T>
device_buffer<T> zeroed(std::size_t size) {
  device_buffer<T> buffer(size);
  buffer.fill_bytes(0);
  return buffer;
}

// The whole main() of such a program: launch(variant) with the variant whose letter is the
// program's one argument, a for the first; then waits for the device. `launch` allocates what the
// variant needs, and keeps it until the kernels are done, as a device_buffer does. Returns the exit
// code: 0, or 1 for an error of CUDA and 2 for another argument, which it prints.
template <class Variant, class Launch>
int run_variant(int argc, char** argv, std::initializer_list<Variant> variants, Launch launch) {
  const char* name = argc == 2 ? argv[1] : "";
  const auto number = static_cast<std::size_t>(name[0] - 'a');
  if (name[0] < 'a' || number >= variants.size() || name[1] != '\0') {
    std::printf("the one argument is the letter of a variant, from a to %c\n",
                static_cast<char>('a' + variants.size() - 1));
    return 2;
  }
  try {
    launch(variants.begin()[number]);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
  } catch (const std::exception& error) {
    std::puts(error.what());
    return 1;
  }
  return 0;
}

}  // namespace lab
