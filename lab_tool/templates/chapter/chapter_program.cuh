// SPDX-License-Identifier: MIT
// Chapter NN: a first kernel, to be replaced by the one that the chapter teaches.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "lab/check.cuh"

namespace course {

// Each thread doubles one element. For a one-dimensional grid of at least n threads.
template <class T>
__global__ void chapter_program_kernel(const T* in, T* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i];
}

// How many blocks it takes. threads is from 1 to 1024.
inline unsigned chapter_program_blocks(std::size_t n, unsigned threads) {
  return static_cast<unsigned>((n + threads - 1) / threads);
}

// Launches on the default stream and does not wait. in and out are arrays of n elements that the
// device can reach. Errors: lab::cuda_error if the launch is refused.
template <class T>
void launch_chapter_program(const T* in, T* out, std::size_t n, unsigned threads) {
  if (n == 0) return;
  chapter_program_kernel<<<chapter_program_blocks(n, threads), threads>>>(in, out, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
