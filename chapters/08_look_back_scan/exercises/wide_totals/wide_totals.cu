// SPDX-License-Identifier: MIT
#include <cuda/atomic>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/block_scan.cuh"

// The state of a tile is 0 until it publishes a sum. Each of its two sums has a place of its own.
inline constexpr unsigned aggregate = 1;  // Of the tile's own values.
inline constexpr unsigned prefix = 2;     // Of all values up to its end.

using state_word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// Stores one of a tile's two sums, and then which one it is.
__device__ void publish(unsigned new_state, unsigned long long sum, unsigned* state,
                        unsigned long long* sums_of_tile) {
  sums_of_tile[new_state - 1] = sum;
  // BEGIN SOLUTION
  // STUB: // TODO: a tile that sees the new state reads the sum.
  // STUB: state_word(*state).store(new_state, cuda::memory_order_relaxed);
  state_word(*state).store(new_state, cuda::memory_order_release);
  // END SOLUTION
}

// Waits until a tile has published a sum, and returns its state. The caller reads the sum.
__device__ unsigned wait_for_state(unsigned* state) {
  unsigned seen = 0;
  // BEGIN SOLUTION
  // STUB: // TODO: the same on the reader's side.
  // STUB: while (seen == 0) seen = state_word(*state).load(cuda::memory_order_relaxed);
  while (seen == 0) seen = state_word(*state).load(cuda::memory_order_acquire);
  // END SOLUTION
  return seen;
}

// What the values of all tiles before `tile` add up to; `total` is the sum of its own values. One
// thread of the block calls it.
__device__ unsigned long long sum_before(unsigned tile, unsigned long long total, unsigned* states,
                                         unsigned long long* sums) {
  if (tile > 0) publish(aggregate, total, states + tile, sums + 2 * tile);
  unsigned long long before = 0;
  unsigned state = aggregate;
  for (unsigned k = tile; k > 0 && state == aggregate; --k) {
    state = wait_for_state(states + k - 1);
    before += sums[2 * (k - 1) + state - 1];
  }
  publish(prefix, before + total, states + tile, sums + 2 * tile);
  return before;
}

// totals[i] becomes values[0] + ... + values[i]. A tile has as many elements as a block has
// threads, and its number is a ticket.
__global__ void add_up(const unsigned long long* values, unsigned long long* totals, unsigned count,
                       unsigned* next_tile, unsigned* states, unsigned long long* sums) {
  __shared__ unsigned long long shared[course::largest_block];
  __shared__ unsigned long long before;
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(next_tile, 1U);
  __syncthreads();
  const unsigned i = tile * blockDim.x + threadIdx.x;
  const unsigned long long sum =
      course::block_scan(i < count ? values[i] : 0ULL, course::plus{}, shared);
  if (threadIdx.x == blockDim.x - 1) before = sum_before(tile, sum, states, sums);
  __syncthreads();
  if (i < count) totals[i] = before + sum;
}

void wide_totals(const unsigned long long* values, unsigned long long* totals, unsigned count,
                 unsigned* next_tile, unsigned* states, unsigned long long* sums,
                 unsigned threads) {
  if (count == 0) return;
  const unsigned tiles = (count - 1) / threads + 1;
  cudaMemsetAsync(next_tile, 0, sizeof(unsigned));
  cudaMemsetAsync(states, 0, sizeof(unsigned) * tiles);
  add_up<<<tiles, threads>>>(values, totals, count, next_tile, states, sums);
}
