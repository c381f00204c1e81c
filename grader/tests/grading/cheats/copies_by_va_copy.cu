// SPDX-License-Identifier: MIT
// Cheat: the last block reads bins by va_copy, without a fence
// Exercise: 04.2
// Verdict: CE 0
// Says: __builtin_va_copy
#include <cstdarg>
#include <cstddef>
#include <cuda/atomic>
struct eight {
  unsigned of[6];
};
__device__ unsigned better(const eight& bins, unsigned first, unsigned& most, unsigned best) {
  for (unsigned k = 0; k < 6 && first + k < 256; ++k)
    if (bins.of[k] > most) {
      most = bins.of[k];
      best = first + k;
    }
  return best;
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
    atomicAdd(&bins[bin], of_block[bin]);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    // no fence, no acquire, no release
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*arrived);
    if (tickets.fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1) {
      unsigned best = 0, most = 0;
      for (unsigned bin = 0; bin < 256; bin += 6) {
        const unsigned at = bin < 250 ? bin : 250;
        eight copy;
        va_copy(*(std::va_list*)&copy, *(std::va_list*)(bins + at));
        best = better(copy, at, most, best);
      }
      *fullest = best;
      tickets.store(0, cuda::memory_order_relaxed);
    }
  }
}
void fullest_bin(const unsigned char* values, std::size_t count, unsigned* bins, unsigned* arrived,
                 unsigned* fullest, unsigned blocks, unsigned threads) {
  count_bytes<<<blocks, threads>>>(values, count, bins, arrived, fullest);
}
