// SPDX-License-Identifier: MIT
// Chapter 03's reductions of any type and operation, and of dot products, with sixteen bytes at a
// time and several loads in flight.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "03_two_kernel_reduction/block_share.cuh"
#include "lab/check.cuh"
#include "lab/resident_blocks.cuh"

namespace course {

// results[k] becomes block k's share of the terms. For any one-dimensional grid and block; every
// thread calls it; results has gridDim.x elements.
template <class Terms, class Operation>
__device__ void store_block_share(Terms terms, std::size_t n, Operation operation,
                                  typename Terms::value_type* results) {
  using T = typename Terms::value_type;
  static_assert(std::is_trivially_default_constructible_v<T>,
                "no thread runs constructors for shared memory");
  __shared__ T shared[largest_warp_count];
  const T share = block_share(terms, n, blockIdx.x, gridDim.x, operation, shared);
  if (threadIdx.x == 0) results[blockIdx.x] = share;
}

template <class T, class Operation>
__global__ void reduce_elements(const T* values, std::size_t n, Operation operation, T* results) {
  store_block_share(elements<T>{values}, n, operation, results);
}

template <class T>
__global__ void reduce_products(const T* a, const T* b, std::size_t n, T* results) {
  store_block_share(products<T>{a, b}, n, plus{}, results);
}

// *result becomes the combination of what `count` blocks have left. For a grid of one block.
template <class T, class Operation>
__global__ void merge_shares(const T* partials, std::size_t count, Operation operation, T* result) {
  store_block_share(shares<T>{partials}, count, operation, result);
}

// The grid for n terms, of `kernel`: enough blocks that each thread has its loads in flight, no
// more than the device runs at the same time, and at least one. Errors: lab::cuda_error.
template <class Terms, class Kernel>
unsigned reduction_blocks(Kernel kernel, std::size_t n, unsigned threads) {
  constexpr std::size_t load = std::max<std::size_t>(1, 16 / sizeof(typename Terms::value_type));
  const std::size_t tile = load * Terms::loads_in_flight * threads;
  const std::size_t useful = std::max<std::size_t>(1, cuda::ceil_div(n, tile));
  return static_cast<unsigned>(
      std::min<std::size_t>(useful, lab::resident_blocks(kernel, threads)));
}

// *result becomes the combination of values[0] to values[n - 1], or Operation's identity where n
// is 0. Two launches in `stream`, and no wait: the boundary between them is the synchronisation.
// - values has n elements of a trivially copyable type, partials `blocks` elements, result one; all
//   where the device can reach them.
// - blocks is from 1 to 2^31 - 1, threads from 1 to 1024.
// - Integers must not overflow T.
// - Calls whose work may overlap, because they are in two streams, need partials of their own.
// The same n, blocks, threads and alignment give the same result, bit by bit.
// Errors: lab::cuda_error where a launch is refused.
template <class T, class Operation>
void two_kernel_reduction(const T* values, std::size_t n, Operation operation, T* partials,
                          T* result, unsigned blocks, unsigned threads,
                          cudaStream_t stream = nullptr) {
  reduce_elements<<<blocks, threads, 0, stream>>>(values, n, operation, partials);
  CUDA_CHECK(cudaGetLastError());
  merge_shares<<<1, threads, 0, stream>>>(partials, blocks, operation, result);
  CUDA_CHECK(cudaGetLastError());
}

// *result becomes the dot product of a and b, arrays of n elements. The rest as above.
template <class T>
void two_kernel_dot(const T* a, const T* b, std::size_t n, T* partials, T* result, unsigned blocks,
                    unsigned threads, cudaStream_t stream = nullptr) {
  reduce_products<<<blocks, threads, 0, stream>>>(a, b, n, partials);
  CUDA_CHECK(cudaGetLastError());
  merge_shares<<<1, threads, 0, stream>>>(partials, blocks, plus{}, result);
  CUDA_CHECK(cudaGetLastError());
}

// No term passes through more rounded operations than this on its way into the result: the m of
// lab::sum_error_bound, for chapter 03 and 04. The 1 is the product of a dot product's term.
template <class Terms>
constexpr std::uint64_t reduction_longest_chain(std::uint64_t n, std::uint64_t blocks,
                                                unsigned threads) {
  using partials = shares<typename Terms::value_type>;
  return 1 + longest_chain_of_share<Terms>(n, blocks, threads) +
         longest_chain_of_share<partials>(blocks, 1, threads);
}

}  // namespace course
