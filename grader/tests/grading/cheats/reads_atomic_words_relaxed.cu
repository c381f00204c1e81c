// SPDX-License-Identifier: MIT
// Cheat: nothing orders the loads of the last block, and they are relaxed atomic loads
// Exercise: 04.2
// Verdict: OK 7
// Says: orders of the atomic operations a result is wrong
#include <cstddef>
#include <cuda/atomic>

__device__ unsigned at(unsigned* bins, unsigned bin) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> counts(bins[bin]);
  return counts.load(cuda::memory_order_relaxed);
}

__global__ void count_bytes(const unsigned char* values, std::size_t count, unsigned* bins,
                            unsigned* arrived, unsigned* fullest) {
  __shared__ unsigned of_block[256];
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) of_block[bin] = 0;
  __syncthreads();
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    atomicAdd(&of_block[values[i]], 1);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
    if (of_block[bin] != 0) atomicAdd(&bins[bin], of_block[bin]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*arrived);
    if (tickets.fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1) {
      unsigned best = 0;
      for (unsigned bin = 1; bin < 256; ++bin) {
        if (at(bins, bin) > at(bins, best)) best = bin;
      }
      *fullest = best;
      tickets.store(0, cuda::memory_order_relaxed);  // ready for the next launch
    }
  }
}

void fullest_bin(const unsigned char* values, std::size_t count, unsigned* bins, unsigned* arrived,
                 unsigned* fullest, unsigned blocks, unsigned threads) {
  count_bytes<<<blocks, threads>>>(values, count, bins, arrived, fullest);
}
