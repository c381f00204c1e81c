// SPDX-License-Identifier: MIT
// Stream compaction, an application of the look-back: the elements that are to be kept, one after
// the other, in their order. Where an element goes is the number of those before it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/block_scan.cuh"
#include "08_look_back_scan/look_back.cuh"
#include "08_look_back_scan/look_back_memory.cuh"
#include "08_look_back_scan/look_back_scan.cuh"
#include "lab/check.cuh"

namespace course {

// For a one-dimensional grid of as many blocks as there are tiles.
template <class T, class Keep>
__global__ void compact_tiles(const T* in, T* out, std::size_t n, Keep keep,
                              look_back<unsigned long long> earlier_tiles,
                              unsigned long long* kept_count) {
  __shared__ unsigned shared[largest_block];
  __shared__ unsigned long long before;
  const tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  const std::size_t i = std::size_t{mine.tile} * blockDim.x + threadIdx.x;
  const T element = i < n ? in[i] : T{};
  const bool is_kept = i < n && keep(element);
  const unsigned count = block_scan(is_kept ? 1U : 0U, plus{}, shared);  // Up to this element.
  if (threadIdx.x == blockDim.x - 1) shared[0] = count;
  __syncthreads();  // The tile's count is there.
  const unsigned long long count_of_tile = shared[0];
  if (threadIdx.x < warp_size) {
    unsigned long long earlier = 0;
    earlier_tiles.exclusive_prefix(mine, count_of_tile, plus{}, &earlier);
    if (threadIdx.x == 0) {
      before = earlier;
      if (mine.tile == gridDim.x - 1) *kept_count = before + count_of_tile;
    }
  }
  __syncthreads();  // `before` is there.
  if (is_kept) out[before + count - 1] = element;
}

// Copies the elements of `in` for which keep(element) is true to `out`, in their order, and their
// number to *kept_count, in device memory. Launches in `stream` and does not wait. in has n
// elements, and so has out, of which those behind the kept ones stay as they are; they must not
// overlap: that throws std::invalid_argument. threads is a multiple of 32, from 32 to 1024, else
// std::invalid_argument. Throws std::length_error if `memory` is for fewer than tiles_of(n,
// threads), std::invalid_argument if that are too many for a grid, and lab::cuda_error if a launch
// is refused.
template <class T, class Keep>
void compact(const T* in, T* out, std::size_t n, Keep keep,
             look_back_memory<unsigned long long>& memory, unsigned long long* kept_count,
             unsigned threads, cudaStream_t stream = nullptr) {
  refuse_overlap(in, n * sizeof(T), out, n * sizeof(T), false);
  if (threads == 0 || threads % warp_size != 0 || threads > largest_block) {
    throw std::invalid_argument(
        "the block of a look-back by a warp has a multiple of 32 threads, up to 1024");
  }
  if (n == 0) {
    CUDA_CHECK(cudaMemsetAsync(kept_count, 0, sizeof *kept_count, stream));
    return;
  }
  const unsigned tiles = tiles_of(n, threads);
  compact_tiles<<<tiles, threads, 0, stream>>>(in, out, n, keep, memory.access(tiles), kept_count);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
