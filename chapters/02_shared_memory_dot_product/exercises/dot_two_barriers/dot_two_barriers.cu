// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>

// BEGIN SOLUTION
// Lane 0 of the warp gets the sum of all lanes; what the others get has no meaning.
__device__ std::int64_t sum_of_warp(std::int64_t sum) {
  for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffff, sum, delta);
  return sum;
}

// END SOLUTION
// Leaves the sum of each block's products in `partials`.
__global__ void dot(const std::int64_t* a, const std::int64_t* b, std::size_t n,
                    std::int64_t* partials) {
  extern __shared__ std::int64_t sums[];  // an element for each thread
  const unsigned thread = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  std::int64_t sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + thread; i < n; i += stride) {
    sum += a[i] * b[i];
  }
  // BEGIN SOLUTION
  // STUB: // TODO: combine the threads' sums with at most two barriers.
  // STUB: sums[thread] = sum;
  // STUB: __syncthreads();
  // STUB: for (unsigned live = blockDim.x; live > 1;) {
  // STUB:   const unsigned half = (live + 1) / 2;
  // STUB:   if (thread < live - half) sums[thread] += sums[thread + half];
  // STUB:   __syncthreads();
  // STUB:   live = half;
  // STUB: }
  // STUB: if (thread == 0) partials[blockIdx.x] = sums[0];
  const unsigned warp = thread / 32;
  const unsigned lane = thread % 32;
  sum = sum_of_warp(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  const unsigned warps = blockDim.x / 32;
  sum = sum_of_warp(lane < warps ? sums[lane] : 0);
  if (lane == 0) partials[blockIdx.x] = sum;
  // END SOLUTION
}

// Launches the kernel. `threads`, a multiple of 32, is at most 1,024.
void dot_two_barriers(const std::int64_t* a, const std::int64_t* b, std::size_t n,
                      std::int64_t* partials, unsigned blocks, unsigned threads) {
  dot<<<blocks, threads, threads * sizeof(std::int64_t)>>>(a, b, n, partials);
}
