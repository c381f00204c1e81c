// SPDX-License-Identifier: MIT
// Chapter 04, made fast: the reductions of chapter 03 in one kernel, for any type and operation,
// and with any of the guards of guards.cuh. The skeleton is that of "Inter-block communication"
// (Stack Overflow Documentation), written anew: docs/sources.md.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
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
//   __restrict__ or by __ldg(), which promise that no thread writes it while the kernel runs.
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
                "no thread runs constructors for shared memory");
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

// last_block for a warp: true in the 32 lanes of the first warp of the block of the grid that comes
// last. No barrier: lane 0 publishes only what it wrote or acquired itself, and after a true only
// these lanes may read what the other blocks published. The block's other warps may have ended.
// - The first warp of every block of the grid calls it, once a launch, and is a whole one. One to
//   three dimensions.
// - counter: as for last_block. Errors: as for last_block.
__device__ inline bool first_warp_of_last_block(unsigned* counter) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrivals(*counter);
  const bool is_first_lane = thread_block::thread_rank() == 0;
  unsigned earlier = 0;
  if (is_first_lane) earlier = arrivals.fetch_add(1, cuda::memory_order_acq_rel);
  earlier = __shfl_sync(whole_warp, earlier, 0);
  const bool is_last = earlier == block_count() - 1;
  if (is_first_lane && earlier >= block_count()) __trap();  // *counter was not 0
  if (is_first_lane && is_last) arrivals.store(0, cuda::memory_order_relaxed);
  __syncwarp();  // A shuffle orders no memory: what lane 0 has acquired, all lanes may read now.
  return is_last;
}

// merge_in_last_block for few blocks: the first warp of the last block combines what all blocks
// have brought, a few partial results for each lane, and *result becomes that. The first warp of
// every block calls it, once a launch, in a one-dimensional grid; the rest is
// first_warp_of_last_block's.
template <class T, class Operation>
__device__ void merge_in_first_warp(const T& partial, Operation operation, T* partials,
                                    unsigned* counter, T* result) {
  if (threadIdx.x == 0) partials[blockIdx.x] = partial;
  if (!first_warp_of_last_block(counter)) return;
  T total = Operation::template identity<T>();
  for (unsigned k = threadIdx.x; k < gridDim.x; k += warp_size) {
    total = operation(total, partials[k]);
  }
  total = warp_reduce(total, operation);
  if (threadIdx.x == 0) *result = total;
}

template <class T, class Operation>
__global__ void reduce_elements_and_merge_in_first_warp(const T* values, std::size_t n,
                                                        Operation operation, T* partials,
                                                        unsigned* counter, T* result) {
  static_assert(std::is_trivially_default_constructible_v<T>,
                "no thread runs constructors for shared memory");
  __shared__ T shared[largest_warp_count];
  const T share = block_share(elements<T>{values}, n, blockIdx.x, gridDim.x, operation, shared);
  if (threadIdx.x < warp_size) merge_in_first_warp(share, operation, partials, counter, result);
}

// More blocks than this leave the first warp so much to merge that the whole block is faster.
inline constexpr unsigned most_blocks_for_first_warp = 128;

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

// As last_block_reduction, for short inputs: `threads` is at least 32, and there are few blocks.
template <class T, class Operation>
void first_warp_reduction(const T* values, std::size_t n, Operation operation, T* partials,
                          arrival_counter& counter, T* result, unsigned blocks, unsigned threads,
                          cudaStream_t stream = nullptr) {
  if (threads < warp_size) throw std::invalid_argument("a block has no whole warp");
  reduce_elements_and_merge_in_first_warp<<<blocks, threads, 0, stream>>>(
      values, n, operation, partials, counter.data(), result);
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
