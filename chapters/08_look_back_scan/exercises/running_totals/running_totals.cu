// SPDX-License-Identifier: MIT
#include <cuda/atomic>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/block_scan.cuh"

// A status word is 0 until its tile publishes. Then the lower 32 bits are a sum, and the upper ones
// say which.
inline constexpr unsigned long long aggregate = 1ULL << 32;  // Of the tile's own values.
inline constexpr unsigned long long prefix = 2ULL << 32;     // Of all values up to its end.

using status_word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

// What the values of all tiles before `tile` add up to; `total` is the sum of its own values. One
// thread of the block calls it.
__device__ unsigned sum_before(unsigned tile, unsigned total, unsigned long long* status) {
  // BEGIN SOLUTION
  // STUB: // TODO: publish the tile's aggregate, look back, and publish its prefix.
  // STUB: return 0;
  status_word mine(status[tile]);
  unsigned before = 0;
  if (tile > 0) mine.store(aggregate | total, cuda::memory_order_relaxed);
  for (unsigned k = tile; k > 0; --k) {
    status_word earlier(status[k - 1]);
    unsigned long long word = 0;
    while (word == 0) word = earlier.load(cuda::memory_order_relaxed);
    before += static_cast<unsigned>(word);
    if (word >= prefix) break;
  }
  total += before;
  mine.store(prefix | total, cuda::memory_order_relaxed);
  return before;
  // END SOLUTION
}

// totals[i] becomes values[0] + ... + values[i], plus what the `earlier` tiles before add up to. A
// tile has as many elements as a block has threads.
__global__ void add_up(const unsigned* values, unsigned* totals, unsigned count, unsigned* counter,
                       unsigned long long* status, unsigned earlier) {
  __shared__ unsigned shared[course::largest_block];
  __shared__ unsigned tile;  // Of those that have values here: 0 is the first one.
  __shared__ unsigned before;
  // BEGIN SOLUTION
  // STUB: // TODO: the blocks may start in any order. Which tile is this block's?
  // STUB: if (threadIdx.x == 0) tile = blockIdx.x;
  if (threadIdx.x == 0) tile = atomicAdd(counter, 1U);
  // END SOLUTION
  __syncthreads();
  const unsigned i = tile * blockDim.x + threadIdx.x;
  const unsigned sum = course::block_scan(i < count ? values[i] : 0U, course::plus{}, shared);
  if (threadIdx.x == blockDim.x - 1) before = sum_before(earlier + tile, sum, status);
  __syncthreads();
  if (i < count) totals[i] = before + sum;
}

void running_totals(const unsigned* values, unsigned* totals, unsigned count, unsigned* counter,
                    unsigned long long* status, unsigned earlier, unsigned threads) {
  if (count == 0) return;
  const unsigned tiles = (count - 1) / threads + 1;
  // BEGIN SOLUTION
  // STUB: // TODO: *counter and the words of these tiles are 0 before the first call only.
  cudaMemsetAsync(counter, 0, sizeof(unsigned));
  cudaMemsetAsync(status + earlier, 0, tiles * sizeof(unsigned long long));
  // END SOLUTION
  add_up<<<tiles, threads>>>(values, totals, count, counter, status, earlier);
}
