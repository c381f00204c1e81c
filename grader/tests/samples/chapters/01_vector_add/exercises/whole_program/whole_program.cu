// SPDX-License-Identifier: MIT
// whole_program COUNT FIRST STEP: adds two arrays of COUNT numbers on the GPU, and prints the sums.
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void add(const int* a, const int* b, int* sums, std::size_t count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) sums[i] = a[i] + b[i];
}

// BEGIN SOLUTION
// STUB: // TODO: a function that looks at a cudaError_t, and after an error ends the program.
// Ends the program if a call has failed.
void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(EXIT_FAILURE);
}
// END SOLUTION

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

  // BEGIN SOLUTION
  // STUB: // TODO: allocate memory on the GPU for a, b and the sums, and copy a and b there.
  // STUB: // TODO: launch add() on as many blocks of 256 threads as it takes.
  // STUB: // TODO: copy the sums back, and free the memory.
  const std::size_t bytes = count * sizeof(int);
  int *device_a = nullptr, *device_b = nullptr, *device_sums = nullptr;
  check(cudaMalloc(&device_a, bytes), "cudaMalloc for a");
  check(cudaMalloc(&device_b, bytes), "cudaMalloc for b");
  check(cudaMalloc(&device_sums, bytes), "cudaMalloc for the sums");
  check(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "copy of a");
  check(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "copy of b");

  const unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  if (blocks > 0) add<<<blocks, threads>>>(device_a, device_b, device_sums, count);
  check(cudaGetLastError(), "launch");

  // Waits for the kernel, and returns its error if it died.
  check(cudaMemcpy(sums.data(), device_sums, bytes, cudaMemcpyDeviceToHost), "copy of the sums");
  check(cudaFree(device_a), "cudaFree of a");
  check(cudaFree(device_b), "cudaFree of b");
  check(cudaFree(device_sums), "cudaFree of the sums");
  // END SOLUTION

  for (const int sum : sums) std::printf("%d\n", sum);
}
