// SPDX-License-Identifier: MIT
#include <cstddef>

#include "02_shared_memory_dot_product/block_reduce.cuh"

// partials[k] becomes the sum of block k's share of the values.
__global__ void sum_part(const int* values, std::size_t count, long long* partials) {
  __shared__ long long shared[course::largest_block];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  long long sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    sum += values[i];
  }
  sum = course::block_reduce(sum, course::plus{}, shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// *sum becomes the sum of all partial sums. For a grid of one block.
__global__ void merge_parts(const long long* partials, unsigned count, long long* sum) {
  __shared__ long long shared[course::largest_block];
  long long total = 0;
  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) total += partials[k];
  total = course::block_reduce(total, course::plus{}, shared);
  if (threadIdx.x == 0) *sum = total;
}

// Leaves the sum of the values in *sum, and does not wait for it. partials has 2 * blocks elements.
// TODO: one thing is missing here or nearby.
void sum_in_two_streams(const int* values, std::size_t count, long long* partials, long long* sum,
                        unsigned blocks, unsigned threads) {
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);

  const std::size_t half = count / 2;
  sum_part<<<blocks, threads, 0, first>>>(values, half, partials);
  sum_part<<<blocks, threads, 0, second>>>(values + half, count - half, partials + blocks);
  // BEGIN SOLUTION
  // STUB: merge_parts<<<1, threads, 0, first>>>(partials, 2 * blocks, sum);
  cudaEvent_t second_is_done;
  cudaEventCreateWithFlags(&second_is_done, cudaEventDisableTiming);
  cudaEventRecord(second_is_done, second);
  cudaStreamWaitEvent(first, second_is_done);
  merge_parts<<<1, threads, 0, first>>>(partials, 2 * blocks, sum);
  cudaEventDestroy(second_is_done);
  // END SOLUTION

  cudaStreamDestroy(first);  // what was asked of it is done all the same
  cudaStreamDestroy(second);
}
