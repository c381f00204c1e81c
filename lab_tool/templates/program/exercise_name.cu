// SPDX-License-Identifier: MIT
// exercise_name COUNT FIRST: doubles COUNT numbers on the GPU, and prints them.
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void double_all(int* values, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] = 2 * values[i];
}

// BEGIN SOLUTION
// STUB: // TODO: a function that looks at a cudaError_t, and after an error ends the program.
void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(EXIT_FAILURE);
}
// END SOLUTION

int number(const char* word) {
  int value = 0;
  std::from_chars(word, word + std::strlen(word), value);
  return value;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s COUNT FIRST\n", argv[0]);
    return EXIT_FAILURE;
  }
  const auto count = static_cast<std::size_t>(number(argv[1]));
  std::vector<int> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = number(argv[2]) + static_cast<int>(i);

  // BEGIN SOLUTION
  // STUB: // TODO: allocate, copy, launch, check, copy back, free.
  const std::size_t bytes = count * sizeof(int);
  int* on_device = nullptr;
  check(cudaMalloc(&on_device, bytes));
  check(cudaMemcpy(on_device, values.data(), bytes, cudaMemcpyHostToDevice));
  const unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  if (blocks > 0) double_all<<<blocks, threads>>>(on_device, count);
  check(cudaGetLastError());
  check(cudaMemcpy(values.data(), on_device, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(on_device));
  // END SOLUTION

  for (const int value : values) std::printf("%d\n", value);
}
