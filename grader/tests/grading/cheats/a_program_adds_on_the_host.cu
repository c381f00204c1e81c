// SPDX-License-Identifier: MIT
// Cheat: a whole program that adds on the host, and copies the sums to the GPU and back
// Exercise: 01.5
// Verdict: OK 1
// Says: no kernel of yours was seen to run
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Ends the program if a call has failed.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(EXIT_FAILURE);
}

int number(const char* word) {
  int value = 0;
  std::from_chars(word, word + std::strlen(word), value);
  return value;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s COUNT FIRST STEP\n", argv[0]);
    return EXIT_FAILURE;
  }
  const auto count = static_cast<std::size_t>(number(argv[1]));
  std::vector<int> a(count), b(count), sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = number(argv[2]) + static_cast<int>(i);
    b[i] = number(argv[3]) * static_cast<int>(i);
  }

  const std::size_t bytes = count * sizeof(int);
  int *device_a = nullptr, *device_b = nullptr, *device_sums = nullptr;
  check(cudaMalloc(&device_a, bytes), "cudaMalloc for a");
  check(cudaMalloc(&device_b, bytes), "cudaMalloc for b");
  check(cudaMalloc(&device_sums, bytes), "cudaMalloc for the sums");
  check(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "copy of a");
  check(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "copy of b");

  for (std::size_t i = 0; i < count; ++i) sums[i] = a[i] + b[i];
  check(cudaMemcpy(device_sums, sums.data(), bytes, cudaMemcpyHostToDevice), "copy of the sums");
  check(cudaMemcpy(sums.data(), device_sums, bytes, cudaMemcpyDeviceToHost), "copy of the sums");
  check(cudaFree(device_a), "cudaFree of a");
  check(cudaFree(device_b), "cudaFree of b");
  check(cudaFree(device_sums), "cudaFree of the sums");

  for (const int sum : sums) std::printf("%d\n", sum);
}
