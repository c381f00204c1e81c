// SPDX-License-Identifier: MIT
// The classic guard with everything that it lacks, in CUDA's older functions: for code that has no
// <cuda/atomic>. last_block.cuh does the same in the words of C++.
#pragma once

#include <cuda_runtime.h>

namespace course {

// As last_block, in a one-dimensional grid of one-dimensional blocks, but a *counter that was not 0
// is never noticed: this and later launches are wrong. atomicInc adds 1, but follows gridDim.x - 1
// by 0, and so *counter is 0 again after the last block's ticket.
__device__ inline bool last_block_by_fences(unsigned* counter) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();  // release: what this block wrote
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // acquire: what all blocks with earlier tickets wrote
  }
  __syncthreads();
  return last;
}

}  // namespace course
