// SPDX-License-Identifier: MIT
// Chapter 06: a vector add and the tiles of chapter 05, with blocks that take over blocks that have
// not started.
//
// vec_add starts from the example of "Work stealing" in the documentation of libcu++, which is part
// of NVIDIA's CUDA Core Compute Libraries; docs/sources.md says what was changed.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "01_vector_add/vector_add.cuh"
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "04_last_block_guard/last_block.cuh"
#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/check.cuh"

namespace course {

namespace {  // A kernel can't be inline, so each source file gets its own.

// c[i] += a[i] + b[i] for i < n. added_by_block[k] becomes the number of elements that block k has
// added; of a block that is never launched it stays as it was. For a one-dimensional grid of at
// least n threads; added_by_block has gridDim.x elements.
__global__ void vec_add(const int* a, const int* b, int* c, std::size_t n,
                        unsigned* added_by_block) {
  __shared__ unsigned added;  // the prologue: once for each block that is launched
  if (threadIdx.x == 0) added = 0;
  __syncthreads();

  for_each_canceled_block<1>([=](dim3 tile) {
    const std::size_t i = std::size_t{tile.x} * blockDim.x + threadIdx.x;  // never blockIdx
    if (i < n) {
      c[i] += a[i] + b[i];
      atomicAdd_block(&added, 1U);
    }
  });

  __syncthreads();  // the epilogue: once for each block that was launched
  if (threadIdx.x == 0) added_by_block[blockIdx.x] = added;
}

// Launches it in the default stream, with a block for each tile of `threads` (1 to 1024) elements,
// and does not wait. If n is 0, nothing is launched. Errors: std::invalid_argument if no grid is
// large enough, lab::cuda_error if the launch is refused.
inline void vec_add_on_device(const int* a, const int* b, int* c, std::size_t n,
                              unsigned* added_by_block, unsigned threads) {
  if (n == 0) return;
  vec_add<<<covering_blocks(n, threads), threads>>>(a, b, c, n, added_by_block);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

// Computes the picture's counts and their sum in one kernel: *total is merged by the block that
// completes the last *tile*. gridDim.x is the number of tiles, whichever block works on them;
// the number of blocks that will run is not known.
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
