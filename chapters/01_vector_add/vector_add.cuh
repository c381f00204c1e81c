// SPDX-License-Identifier: MIT
// Chapter 01: c[i] = a[i] + b[i], one thread for each element. No block needs to know of any other.
// The faster forms are in fast_vector_add.cuh.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "lab/check.cuh"

namespace course {

namespace {  // A kernel can't be inline, so each source file gets its own.

// Each thread adds one element. For a one-dimensional grid of at least n threads.
// std::size_t comes first in the index: blockIdx.x * blockDim.x alone would wrap around at 2^32.
__global__ void add_one_element(const float* a, const float* b, float* c, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

}  // namespace

// CUDA's limit on the blocks of a grid's first dimension.
inline constexpr std::size_t largest_grid = 0x7fffffff;

// The blocks that cover `n` pieces of work if each does `per_block` (>= 1): n / per_block, rounded
// up. Throws std::invalid_argument if no grid is that large.
inline unsigned covering_blocks(std::size_t n, std::size_t per_block) {
  const std::size_t blocks = cuda::ceil_div(n, per_block);
  if (blocks > largest_grid) {
    throw std::invalid_argument(std::to_string(blocks) +
                                " blocks are needed, and a grid has at most " +
                                std::to_string(largest_grid) + "; take more threads per block");
  }
  return static_cast<unsigned>(blocks);
}

namespace {

// Launches add_one_element on the default stream and does not wait. a, b and c are arrays of n
// elements that the device can reach; c may be a or b, and overlaps them in no other way. threads
// is from 1 to 1024. Throws std::invalid_argument if that takes too many blocks, and
// lab::cuda_error if the launch is refused.
inline void launch_one_element(const float* a, const float* b, float* c, std::size_t n,
                               unsigned threads) {
  if (n == 0) return;  // A grid of no blocks would be refused.
  const unsigned blocks = covering_blocks(n, threads);
  add_one_element<<<blocks, threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

}  // namespace course
