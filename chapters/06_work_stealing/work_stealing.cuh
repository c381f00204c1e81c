// SPDX-License-Identifier: MIT
// Chapter 06: the vector add of chapter 01 and the tiles of chapter 05, with blocks that take over
// blocks that have not started.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "01_vector_add/packet.cuh"
#include "01_vector_add/vector_add.cuh"
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "04_last_block_guard/last_block.cuh"
#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/check.cuh"

namespace course {

// What the prologue and the epilogue of a kernel count: how often each ran.
struct prologue_tally {
  unsigned prologues;
  unsigned epilogues;
};

// The example of libcu++'s documentation: c[i] += a[i] + b[i]. The prologue, before the lambda's
// work, and the epilogue, behind it, run once for each block that was launched, not once a tile.
// For one-dimensional blocks, and a grid of `rank` dimensions of at least n threads.
template <int rank>
__global__ void vec_add(const int* a, const int* b, int* c, std::size_t n, prologue_tally* tally) {
  if (threadIdx.x == 0) atomicAdd(&tally->prologues, 1U);
  for_each_canceled_block<rank>([=](dim3 index) {
    const std::size_t i = number_of<rank>(index) * blockDim.x + threadIdx.x;
    if (i < n) c[i] += a[i] + b[i];
  });
  if (threadIdx.x == 0) atomicAdd(&tally->epilogues, 1U);
}

// Chapter 01's c[i] = a[i] + b[i], one element a thread, to be compared with it.
template <int rank, class T>
__global__ void add_canceling(const T* a, const T* b, T* c, std::size_t n) {
  for_each_canceled_block<rank>([=](dim3 index) {
    const std::size_t i = number_of<rank>(index) * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
  });
}

// As chapter 01's add_sixteen_bytes, one packet a thread. For a one-dimensional grid of at least
// n / packet<T>::size threads. What lies before and behind the packets, or all where the arrays are
// misaligned by different amounts, the tiles' threads share in steps of the whole grid.
template <class T>
__global__ void add_canceling_sixteen_bytes(const T* a, const T* b, T* c, std::size_t n) {
  const packet_range range = aligned_packets(n, a, b, c);
  const std::size_t tail = range.head + range.count * packet<T>::size;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for_each_canceled_block<1>([=](dim3 index) {
    const std::size_t i = std::size_t{index.x} * blockDim.x + threadIdx.x;
    const auto* const a_packets = reinterpret_cast<const packet<T>*>(a + range.head);
    const auto* const b_packets = reinterpret_cast<const packet<T>*>(b + range.head);
    auto* const c_packets = reinterpret_cast<packet<T>*>(c + range.head);
    if (i < range.count) c_packets[i] = a_packets[i] + b_packets[i];
    for (std::size_t j = i; j < range.head; j += threads) c[j] = a[j] + b[j];
    for (std::size_t j = tail + i; j < n; j += threads) c[j] = a[j] + b[j];
  });
}

// A grid of `rank` dimensions, about equally long, with at least `blocks` (>= 1) blocks.
inline dim3 grid_of_rank(int rank, unsigned blocks) {
  const auto root = [](double value, double degree) {
    return static_cast<unsigned>(std::ceil(std::pow(value, 1 / degree)));
  };
  if (rank == 1) return dim3(blocks);
  const unsigned z = rank == 3 ? root(blocks, 3) : 1;
  const unsigned layer = cuda::ceil_div(blocks, z);
  const unsigned y = root(layer, 2);
  return dim3(cuda::ceil_div(layer, y), y, z);
}

// The three below launch in the default stream and do not wait. Arrays of n elements that the
// device can reach; threads from 1 to 1024. With n == 0 nothing is launched. Errors:
// std::invalid_argument where no grid is large enough, lab::cuda_error where the launch is refused.

template <int rank>
void launch_vec_add(const int* a, const int* b, int* c, std::size_t n, prologue_tally* tally,
                    unsigned threads) {
  if (n == 0) return;
  vec_add<rank><<<grid_of_rank(rank, covering_blocks(n, threads)), threads>>>(a, b, c, n, tally);
  CUDA_CHECK(cudaGetLastError());
}

template <int rank, class T>
void launch_add_canceling(const T* a, const T* b, T* c, std::size_t n, unsigned threads) {
  if (n == 0) return;
  add_canceling<rank><<<grid_of_rank(rank, covering_blocks(n, threads)), threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

template <class T>
void launch_add_canceling_sixteen_bytes(const T* a, const T* b, T* c, std::size_t n,
                                        unsigned threads) {
  if (n == 0) return;
  const unsigned blocks = covering_blocks(n, std::size_t{threads} * packet<T>::size);
  add_canceling_sixteen_bytes<T><<<blocks, threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

// Computes the picture's counts and their sum in one kernel: *total is merged by the block that
// completes the last *tile*. gridDim.x is the number of tiles, whoever works on them; how many
// blocks will ever run, nobody knows.
// For a one-dimensional grid of one block a tile. counts is render_tile's; totals has gridDim.x
// elements of T, an unsigned integer that the sum fits in; *counter is last_arrival's.
template <class T>
__global__ void total_count(picture of, const tile_index* tiles, std::uint32_t* counts, T* totals,
                            unsigned* counter, T* total) {
  __shared__ T shared[largest_warp_count];
  for_each_canceled_block<1>([=](dim3 index) {
    T share = 0;
    render_tile(of, tiles[index.x], whole_block(), counts,
                [&share](std::uint32_t count) { share += count; });
    share = block_reduce_shuffle(share, plus{}, shared);
    if (threadIdx.x == 0) totals[index.x] = share;
    if (last_arrival(counter, gridDim.x)) {
      T sum = 0;
      for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += totals[i];
      sum = block_reduce_shuffle(sum, plus{}, shared);
      if (threadIdx.x == 0) *total = sum;
    }
  });
}

// Launches it in the default stream, with a block for each of `count` (>= 1) tiles, and does not
// wait. Errors: lab::cuda_error.
template <class T>
void launch_total_count(const picture& of, const tile_index* tiles, unsigned count,
                        std::uint32_t* counts, T* totals, unsigned* counter, T* total,
                        unsigned threads) {
  total_count<<<count, threads>>>(of, tiles, counts, totals, counter, total);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
