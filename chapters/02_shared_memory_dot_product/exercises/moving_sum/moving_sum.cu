// SPDX-License-Identifier: CC-BY-SA-4.0
#include <cstddef>

constexpr unsigned WINDOW = 8;  // values in one sum
inline constexpr unsigned MOST_THREADS = 1024;

// Each thread writes one sum. Sum i, for each i below count, adds up values[i] and the WINDOW - 1
// values after it.
__global__ void add_windows(const int* values, std::size_t count, int* sums) {
  // BEGIN SOLUTION
  // STUB: // TODO: load each value that the block needs once, into shared memory, and add there.
  // STUB: const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // STUB: if (i >= count) return;
  // STUB: int sum = 0;
  // STUB: for (unsigned k = 0; k < WINDOW; ++k) sum += values[i + k];
  // STUB: sums[i] = sum;
  __shared__ int tile[MOST_THREADS + WINDOW - 1];
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
  const std::size_t there = count + WINDOW - 1;  // values in all
  for (unsigned t = threadIdx.x; t < blockDim.x + WINDOW - 1; t += blockDim.x) {
    if (first + t < there) tile[t] = values[first + t];
  }
  __syncthreads();
  if (first + threadIdx.x < count) {
    int total = 0;
    for (unsigned k = 0; k < WINDOW; ++k) total += tile[threadIdx.x + k];
    sums[first + threadIdx.x] = total;
  }
  // END SOLUTION
}

void moving_sum(const int* values, std::size_t count, int* sums, unsigned blocks,
                unsigned threads) {
  add_windows<<<blocks, threads>>>(values, count, sums);
}
