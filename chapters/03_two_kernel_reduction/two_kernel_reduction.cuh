// SPDX-License-Identifier: MIT
// Chapter 03: a sum that ends on the device. Each block leaves its share, as in chapter 02, and a
// second kernel of one block adds up the shares: it does not start before the first has ended. The
// faster forms, and those for other operations, are in fast_two_kernel_reduction.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "lab/check.cuh"

namespace course {

namespace {  // A kernel can't be inline, so each source file gets its own.

// partials[k] becomes block k's share of the sum of n values. For any one-dimensional grid and
// blocks of 1 to 1024 threads; partials has gridDim.x elements.
__global__ void sum_blocks(const std::int64_t* values, std::size_t n, std::int64_t* partials) {
  __shared__ std::int64_t shared[largest_block];
  const std::size_t threads_of_grid = std::size_t{gridDim.x} * blockDim.x;
  std::int64_t sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += threads_of_grid) {
    sum += values[i];
  }
  sum = block_reduce(sum, plus{}, shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// *result becomes the sum of `count` partial sums. For a grid of one block of 1 to 1024 threads.
__global__ void sum_partials(const std::int64_t* partials, unsigned count, std::int64_t* result) {
  __shared__ std::int64_t shared[largest_block];
  std::int64_t sum = 0;
  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) sum += partials[k];
  sum = block_reduce(sum, plus{}, shared);
  if (threadIdx.x == 0) *result = sum;
}

// *result becomes the sum of n values. Two launches in `stream`, and no wait: the boundary between
// them is the synchronisation.
// - values has n elements, partials `blocks` elements, result one; all in memory that the device
//   can reach. Calls in two streams need partials of their own.
// - blocks is from 1 to 2^31 - 1, threads from 1 to 1024. The sum must not overflow.
// Errors: lab::cuda_error if a launch is refused.
inline void sum_by_two_kernels(const std::int64_t* values, std::size_t n, std::int64_t* partials,
                               std::int64_t* result, unsigned blocks, unsigned threads,
                               cudaStream_t stream = nullptr) {
  sum_blocks<<<blocks, threads, 0, stream>>>(values, n, partials);
  CUDA_CHECK(cudaGetLastError());
  sum_partials<<<1, threads, 0, stream>>>(partials, blocks, result);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

}  // namespace course
