// SPDX-License-Identifier: MIT
#include <cstddef>

// Leaves the total of each block's values in `totals`. blockDim.x is a power of two, at least 64.
__global__ void add_up(const int* values, std::size_t n, int* totals) {
  // TODO: two things are missing in the last six steps.
  extern __shared__ int sums[];  // an element for each thread
  const unsigned thread = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  int sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + thread; i < n; i += stride) {
    sum += values[i];
  }
  sums[thread] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (thread < half) sums[thread] += sums[thread + half];
    __syncthreads();
  }
  if (thread < 32) {  // 64 sums are left, for one warp
    for (unsigned half = 32; half > 0; half /= 2) {
      // BEGIN SOLUTION
      // STUB: sums[thread] += sums[thread + half];
      if (thread < half) sums[thread] += sums[thread + half];
      __syncwarp();
      // END SOLUTION
    }
  }
  if (thread == 0) totals[blockIdx.x] = sums[0];
}

// Launches the kernel. `threads` is a power of two from 64 to 1,024.
void totals_of_blocks(const int* values, std::size_t n, int* totals, unsigned blocks,
                      unsigned threads) {
  add_up<<<blocks, threads, threads * sizeof(int)>>>(values, n, totals);
}
