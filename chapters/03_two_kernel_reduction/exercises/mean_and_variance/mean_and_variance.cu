// SPDX-License-Identifier: MIT
#include <cstddef>

#include "02_shared_memory_dot_product/block_reduce.cuh"

// What a set of values comes down to: how many they are, their mean, and the sum of
// (value - mean)^2 over them. Of an empty set all three are 0.
struct moments {
  double count;
  double mean;
  double squares;
};

// The moments of two sets together.
struct merge {
  __device__ moments operator()(const moments& a, const moments& b) const {
    // BEGIN SOLUTION
    // STUB: // TODO: merge a and b. Each of them can be empty.
    // STUB: return {a.count + b.count, 0, 0};
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const double difference = b.mean - a.mean;
    const double part = b.count / count;
    return {count, a.mean + difference * part,
            a.squares + b.squares + difference * part * a.count * difference};
    // END SOLUTION
  }
};

// of_blocks[k] becomes the moments of block k's share of the values.
__global__ void find_moments(const double* values, std::size_t count, moments* of_blocks) {
  // BEGIN SOLUTION
  // STUB: // TODO: merge what each thread has, then what the block's threads have: block_reduce.
  __shared__ moments shared[course::largest_block];
  moments mine = {0, 0, 0};
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    mine = merge{}(mine, {1, values[i], 0});
  }
  mine = course::block_reduce(mine, merge{}, shared);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = mine;
  // END SOLUTION
}

// Merges the moments of all blocks, in one block.
__global__ void merge_blocks(const moments* of_blocks, unsigned blocks, double* mean,
                             double* variance) {
  // BEGIN SOLUTION
  // STUB: // TODO: the same with the blocks' moments; then write the mean and the variance.
  __shared__ moments shared[course::largest_block];
  moments all = {0, 0, 0};
  for (unsigned k = threadIdx.x; k < blocks; k += blockDim.x) all = merge{}(all, of_blocks[k]);
  all = course::block_reduce(all, merge{}, shared);
  if (threadIdx.x == 0) {
    *mean = all.mean;
    *variance = all.squares / all.count;
  }
  // END SOLUTION
}

void mean_and_variance(const double* values, std::size_t count, moments* of_blocks, double* mean,
                       double* variance, unsigned blocks, unsigned threads) {
  find_moments<<<blocks, threads>>>(values, count, of_blocks);
  merge_blocks<<<1, threads>>>(of_blocks, blocks, mean, variance);
}
