// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>

#include "lab/check.cuh"

namespace lab {

// How many blocks of `threads` threads of `kernel` the current device runs at the same time: the
// grid that keeps it full without a second wave. At least 1: if no block fits, the launch is
// refused, and that error says why. Errors: cuda_error.
template <class Kernel>
std::size_t resident_blocks(Kernel kernel, unsigned threads, std::size_t dynamic_shared_bytes = 0) {
  int device = 0;
  int multiprocessors = 0;
  int blocks_each = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks_each, kernel, static_cast<int>(threads), dynamic_shared_bytes));
  return static_cast<std::size_t>(multiprocessors) *
         static_cast<std::size_t>(std::max(1, blocks_each));
}

}  // namespace lab
