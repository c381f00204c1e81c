// SPDX-License-Identifier: MIT
// Chapter 02: the dot product. Each block adds up its share in shared memory and leaves one partial
// sum; the host adds up the partial sums when the kernel has ended. The example is that of "Shared
// Memory and Synchronisation", a tutorial for Julia whose author and licence are not named. The
// code is our own, and takes blocks of any size: see docs/sources.md. The faster forms are in
// fast_dot_product.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace course {

namespace {  // A kernel can't be inline, so each source file gets its own.

// partials[k] becomes block k's share of the sum of a[i] * b[i] over i < n. For any one-dimensional
// grid and blocks of 1 to 1024 threads. The launch brings shared memory for blockDim.x elements;
// partials has gridDim.x elements.
__global__ void dot(const std::int64_t* a, const std::int64_t* b, std::size_t n,
                    std::int64_t* partials) {
  extern __shared__ std::int64_t sums[];
  const unsigned thread = threadIdx.x;
  const std::size_t threads_of_grid = std::size_t{gridDim.x} * blockDim.x;
  std::int64_t sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + thread; i < n; i += threads_of_grid) {
    sum += a[i] * b[i];
  }
  sums[thread] = sum;
  __syncthreads();
  for (unsigned live = blockDim.x; live > 1;) {
    const unsigned half = (live + 1) / 2;
    if (thread < live - half) sums[thread] += sums[thread + half];
    __syncthreads();
    live = half;
  }
  if (thread == 0) partials[blockIdx.x] = sums[0];
}

// The dot product of a and b, arrays of n elements that the device can reach: launches `dot` on the
// default stream in a grid of partials.size() blocks of `threads` threads, waits, and adds up the
// partial sums. The sum must not overflow. With n == 0 nothing is launched. Errors:
// lab::cuda_error.
inline std::int64_t dot_finished_by_host(const std::int64_t* a, const std::int64_t* b,
                                         std::size_t n, unsigned threads,
                                         lab::device_buffer<std::int64_t>& partials) {
  if (n == 0) return 0;
  const auto blocks = static_cast<unsigned>(partials.size());
  dot<<<blocks, threads, threads * sizeof(std::int64_t)>>>(a, b, n, partials.data());
  CUDA_CHECK(cudaGetLastError());
  std::int64_t sum = 0;
  for (const std::int64_t partial : partials.to_host()) sum += partial;  // to_host() waits.
  return sum;
}

}  // namespace

}  // namespace course
