// SPDX-License-Identifier: MIT
// Chapter 04, made fast: the reductions of chapter 03 in one kernel, for any type and operation,
// and with any of the guards of guards.cuh. The skeleton is that of "Inter-block communication"
// (Stack Overflow Documentation), written anew: docs/sources.md.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "03_two_kernel_reduction/block_share.cuh"
#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "04_last_block_guard/guards.cuh"
#include "04_last_block_guard/last_block.cuh"
#include "04_last_block_guard/last_block_guard.cuh"
#include "lab/check.cuh"

namespace course {

// The skeleton of the text, for any trivially copyable T: each block brings its partial result, and
// the block that is last calls merge(partials, count), with all its threads, when all `count`
// partial results are in partials[0] to partials[count - 1], in the order of block_rank().
// - Every thread of every block of the grid calls it, once a launch. `partial` is thread 0's; the
//   other threads' does not matter.
// - partials has block_count() elements in global memory, and no thread reads it otherwise: not as
//   __restrict__ or by __ldg(), which promise that nobody writes it while the kernel runs.
// - counter: as for last_block.
template <class Guard = acquire_release_guard, class T, class Merge>
__device__ void merge_in_last_block(const T& partial, T* partials, unsigned* counter, Merge merge) {
  static_assert(std::is_trivially_copyable_v<T>,
                "a partial result travels through global memory byte by byte");
  if (thread_block::thread_rank() == 0) partials[block_rank()] = partial;
  if (Guard{}(counter)) merge(static_cast<const T*>(partials), block_count());
}

// *result becomes the combination of the first n terms. For any one-dimensional grid and block;
// every thread calls it; partials has gridDim.x elements.
template <class Guard, class Terms, class Operation, class T = typename Terms::value_type>
__device__ void reduce_in_one_kernel(Terms terms, std::size_t n, Operation operation, T* partials,
                                     unsigned* counter, T* result) {
  static_assert(std::is_trivially_default_constructible_v<T>,
                "nobody runs constructors for shared memory");
  __shared__ T shared[largest_warp_count];
  const T share = block_share(terms, n, blockIdx.x, gridDim.x, operation, shared);
  merge_in_last_block<Guard>(share, partials, counter, [&](const T* all, unsigned long long count) {
    const T total = block_share(shares<T>{all}, count, 0, 1, operation, shared);
    if (threadIdx.x == 0) *result = total;
  });
}

template <class Guard, class T, class Operation>
__global__ void reduce_elements_in_one_kernel(const T* values, std::size_t n, Operation operation,
                                              T* partials, unsigned* counter, T* result) {
  reduce_in_one_kernel<Guard>(elements<T>{values}, n, operation, partials, counter, result);
}

template <class Guard, class T>
__global__ void reduce_products_in_one_kernel(const T* a, const T* b, std::size_t n, T* partials,
                                              unsigned* counter, T* result) {
  reduce_in_one_kernel<Guard>(products<T>{a, b}, n, plus{}, partials, counter, result);
}

// As two_kernel_reduction, with its contract, in one launch. A classic guard costs a second
// operation in the stream: the counter is set to 0 first.
template <class Guard = acquire_release_guard, class T, class Operation>
void last_block_reduction(const T* values, std::size_t n, Operation operation, T* partials,
                          arrival_counter& counter, T* result, unsigned blocks, unsigned threads,
                          cudaStream_t stream = nullptr) {
  if (!Guard::resets_counter)
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
  reduce_elements_in_one_kernel<Guard>
      <<<blocks, threads, 0, stream>>>(values, n, operation, partials, counter.data(), result);
  CUDA_CHECK(cudaGetLastError());
}

// As two_kernel_dot, in one launch.
template <class Guard = acquire_release_guard, class T>
void last_block_dot(const T* a, const T* b, std::size_t n, T* partials, arrival_counter& counter,
                    T* result, unsigned blocks, unsigned threads, cudaStream_t stream = nullptr) {
  if (!Guard::resets_counter)
    CUDA_CHECK(cudaMemsetAsync(counter.data(), 0, sizeof(unsigned), stream));
  reduce_products_in_one_kernel<Guard>
      <<<blocks, threads, 0, stream>>>(a, b, n, partials, counter.data(), result);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
