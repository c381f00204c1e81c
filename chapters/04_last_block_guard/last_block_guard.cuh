// SPDX-License-Identifier: MIT
// Chapter 04: a sum in one kernel. Whichever block arrives last merges what all blocks have left.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "04_last_block_guard/last_block.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace course {

namespace {  // A kernel can't be inline, so each source file gets its own.

// *result becomes the sum of n values: chapter 03's sum_blocks and sum_partials in one kernel. For
// any one-dimensional grid and block; partials has gridDim.x elements, counter is last_block's.
__global__ void sum_in_one_kernel(const std::int64_t* values, std::size_t n, std::int64_t* partials,
                                  unsigned* counter, std::int64_t* result) {
  __shared__ std::int64_t shared[largest_block];
  const std::size_t threads_of_grid = std::size_t{gridDim.x} * blockDim.x;
  std::int64_t sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += threads_of_grid) {
    sum += values[i];
  }
  sum = block_reduce(sum, plus{}, shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;

  if (last_block(counter)) {
    std::int64_t total = 0;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) total += partials[k];
    total = block_reduce(total, plus{}, shared);
    if (threadIdx.x == 0) *result = total;
  }
}

// Launches it in `stream`, and does not wait. All pointers lead to memory that the device can
// reach, and *counter is 0: it is 0 again when the kernel has ended. blocks is from 1 to 2^31 - 1,
// threads from 1 to 1024. The sum must not overflow. Errors: lab::cuda_error if the launch is
// refused.
inline void sum_by_last_block(const std::int64_t* values, std::size_t n, std::int64_t* partials,
                              unsigned* counter, std::int64_t* result, unsigned blocks,
                              unsigned threads, cudaStream_t stream = nullptr) {
  sum_in_one_kernel<<<blocks, threads, 0, stream>>>(values, n, partials, counter, result);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

// The counter of a guard, in device memory: 0 before the first launch, and after every launch that
// ended. Launches that can overlap, as in two streams, need a counter each.
// Errors: lab::cuda_error.
class arrival_counter {
 public:
  // Sets it to 0 in `stream`, and waits for that: it is ready for launches in any stream.
  explicit arrival_counter(cudaStream_t stream = nullptr) : memory_(1) {
    reset(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  unsigned* data() { return memory_.data(); }

  // 0 again, in the order of `stream`; does not wait for the device. For guards that do not do it,
  // and after a launch in which not every block arrived.
  void reset(cudaStream_t stream = nullptr) {
    CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, sizeof(unsigned), stream));
  }

  // What the counter says once all earlier work of `stream` is done. Not 0: a launch died, or not
  // every block arrived.
  unsigned value(cudaStream_t stream = nullptr) const {
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return memory_.to_host().front();
  }

 private:
  lab::device_buffer<unsigned> memory_;
};

}  // namespace course
