// SPDX-License-Identifier: MIT
// Chapter 08: the inclusive sum of a vector, out[i] = in[0] + ... + in[i], in three kernels and in
// one. A tile is the elements of one block, one of each thread.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "01_vector_add/vector_add.cuh"
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/block_scan.cuh"
#include "08_look_back_scan/look_back.cuh"
#include "08_look_back_scan/look_back_memory.cuh"
#include "lab/check.cuh"

namespace course {

namespace {  // A kernel can't be inline, so each source file gets its own.

// ---- Three kernels: each waits for the one before, so no block waits for another.

// sums[k] becomes the sum of tile k.
__global__ void sum_tiles(const std::int64_t* in, std::size_t n, std::int64_t* sums) {
  __shared__ std::int64_t shared[largest_block];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t sum = block_reduce(i < n ? in[i] : 0, plus{}, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// sums[k] becomes sums[0] + ... + sums[k]. One block.
__global__ void scan_sums(std::int64_t* sums, std::size_t count) {
  __shared__ std::int64_t shared[largest_block];
  std::int64_t before = 0;
  for (std::size_t first = 0; first < count; first += blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const std::int64_t sum = before + block_scan(i < count ? sums[i] : 0, plus{}, shared);
    if (i < count) sums[i] = sum;
    if (threadIdx.x == blockDim.x - 1) shared[0] = sum;
    __syncthreads();  // The last thread's sum is there.
    before = shared[0];
    __syncthreads();  // All have read it.
  }
}

// The same as sum_tiles, but for the sums of the elements, on top of those of the tiles before.
__global__ void scan_tiles(const std::int64_t* in, std::int64_t* out, std::size_t n,
                           const std::int64_t* sums) {
  __shared__ std::int64_t shared[largest_block];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t sum = block_scan(i < n ? in[i] : 0, plus{}, shared);
  const std::int64_t before = blockIdx.x == 0 ? 0 : sums[blockIdx.x - 1];
  if (i < n) out[i] = before + sum;
}

// ---- One kernel: each tile takes the sum of the tiles before it from their status words.

// For a one-dimensional grid of as many blocks as there are tiles.
__global__ void scan_in_one_pass(const std::int64_t* in, std::int64_t* out, std::size_t n,
                                 look_back<std::int64_t> earlier_tiles) {
  __shared__ std::int64_t shared[largest_block];
  __shared__ std::int64_t before;
  const tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  const std::size_t i = std::size_t{mine.tile} * blockDim.x + threadIdx.x;
  const std::int64_t sum = block_scan(i < n ? in[i] : 0, plus{}, shared);

  if (threadIdx.x == blockDim.x - 1) {  // Its sum is the tile's.
    before = 0;
    earlier_tiles.exclusive_prefix_by_one_thread(mine, sum, plus{}, &before);
  }
  __syncthreads();
  if (i < n) out[i] = before + sum;
}

}  // namespace

// The blocks of both: a tile each. Throws std::invalid_argument if no grid is that large.
inline unsigned tiles_of(std::size_t n, unsigned threads) { return covering_blocks(n, threads); }

// Throws std::invalid_argument if the arrays overlap, unless they are the same one and
// `may_be_the_same`.
inline void refuse_overlap(const void* in, std::size_t in_bytes, const void* out,
                           std::size_t out_bytes, bool may_be_the_same) {
  if (in == out && may_be_the_same) return;
  const auto* const first = static_cast<const char*>(in);
  const auto* const second = static_cast<const char*>(out);
  const std::less<const char*> less;  // Compares pointers into different arrays, too.
  if (less(first, second + out_bytes) && less(second, first + in_bytes)) {
    throw std::invalid_argument(may_be_the_same
                                    ? "input and output overlap, and are not the same array"
                                    : "input and output overlap");
  }
}

namespace {

// The two below launch in `stream` and do not wait. in and out are arrays of n elements that the
// device can reach, of any alignment. out may be in, and must not overlap it in any other way: that
// throws std::invalid_argument. threads is from 1 to 1024. No sum overflows. Throw
// std::invalid_argument if that takes too many blocks, and lab::cuda_error if a launch is refused.

// sums has tiles_of(n, threads) elements.
inline void scan_in_three_kernels(const std::int64_t* in, std::int64_t* out, std::size_t n,
                                  std::int64_t* sums, unsigned threads,
                                  cudaStream_t stream = nullptr) {
  refuse_overlap(in, n * sizeof *in, out, n * sizeof *out, true);
  if (n == 0) return;
  const unsigned tiles = tiles_of(n, threads);
  sum_tiles<<<tiles, threads, 0, stream>>>(in, n, sums);
  CUDA_CHECK(cudaGetLastError());
  scan_sums<<<1, largest_block, 0, stream>>>(sums, tiles);
  CUDA_CHECK(cudaGetLastError());
  scan_tiles<<<tiles, threads, 0, stream>>>(in, out, n, sums);
  CUDA_CHECK(cudaGetLastError());
}

// Throws std::length_error if `memory` is for fewer than tiles_of(n, threads).
inline void scan_with_look_back(const std::int64_t* in, std::int64_t* out, std::size_t n,
                                look_back_memory<std::int64_t>& memory, unsigned threads,
                                cudaStream_t stream = nullptr) {
  refuse_overlap(in, n * sizeof *in, out, n * sizeof *out, true);
  if (n == 0) return;
  const unsigned tiles = tiles_of(n, threads);
  scan_in_one_pass<<<tiles, threads, 0, stream>>>(in, out, n, memory.access(tiles));
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

}  // namespace course
