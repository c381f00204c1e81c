// SPDX-License-Identifier: MIT
// dot_program COUNT FIRST STEP THREADS: the dot product of two arrays of COUNT numbers, by blocks
// of THREADS threads.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Leaves the sum of each block's products in `partials`. It takes a long long of dynamic shared
// memory for each thread of a block.
__global__ void dot(const int* a, const int* b, std::size_t count, long long* partials) {
  extern __shared__ long long sums[];
  const unsigned thread = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  long long sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + thread; i < count; i += stride) {
    sum += static_cast<long long>(a[i]) * b[i];
  }
  sums[thread] = sum;
  __syncthreads();
  for (unsigned live = blockDim.x; live > 1;) {
    const unsigned half = (live + 1) / 2;
    if (thread < live - half) sums[thread] += sums[thread + half];
    __syncthreads();
    live = half;
  }
  if (thread == 0) partials[blockIdx.x] = sums[0];
}

// BEGIN SOLUTION
// STUB: // TODO: what ends the program if a call has failed, as in 01.5.
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
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s COUNT FIRST STEP THREADS\n", argv[0]);
    return EXIT_FAILURE;
  }
  const auto count = static_cast<std::size_t>(number(argv[1]));
  const auto threads = static_cast<unsigned>(number(argv[4]));
  std::vector<int> a(count), b(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = number(argv[2]) + static_cast<int>(i);
    b[i] = number(argv[3]) * static_cast<int>(i);
  }
  // A block for each `threads` numbers, and at most 32: the rest is the loop's.
  const auto blocks =
      static_cast<unsigned>(std::min<std::size_t>(32, (count + threads - 1) / threads));
  long long sum = 0;

  // BEGIN SOLUTION
  // STUB: // TODO: allocate, copy, launch, check, copy the partial sums back, and free.
  // STUB: // TODO: add the partial sums up.
  // STUB: (void)blocks;
  const std::size_t bytes = count * sizeof(int);
  std::vector<long long> partials(blocks);
  const std::size_t bytes_of_partials = blocks * sizeof(long long);
  int *device_a = nullptr, *device_b = nullptr;
  long long* device_partials = nullptr;
  check(cudaMalloc(&device_a, bytes), "cudaMalloc for a");
  check(cudaMalloc(&device_b, bytes), "cudaMalloc for b");
  check(cudaMalloc(&device_partials, bytes_of_partials), "cudaMalloc for the partial sums");
  check(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice), "copy of a");
  check(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice), "copy of b");

  const std::size_t shared_bytes = threads * sizeof(long long);
  if (blocks > 0) {
    dot<<<blocks, threads, shared_bytes>>>(device_a, device_b, count, device_partials);
  }
  check(cudaGetLastError(), "launch");

  check(cudaMemcpy(partials.data(), device_partials, bytes_of_partials, cudaMemcpyDeviceToHost),
        "copy of the partial sums");
  check(cudaFree(device_a), "cudaFree of a");
  check(cudaFree(device_b), "cudaFree of b");
  check(cudaFree(device_partials), "cudaFree of the partial sums");
  for (const long long partial : partials) sum += partial;
  // END SOLUTION

  std::printf("%lld\n", sum);
}
