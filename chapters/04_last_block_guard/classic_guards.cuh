// SPDX-License-Identifier: CC-BY-SA-4.0
// The two guards of the text that this chapter starts from: "Inter-block communication", by the
// contributors of Stack Overflow Documentation (CUDA, topic 4978), under CC BY-SA 3.0. Changed: the
// names, `unsigned` instead of `int`, and the layout. docs/sources.md has more.
//
// Each is only one half of what it is used for: read what they need. Use last_block.cuh instead.
//
// Both return true in all threads of the block that takes ticket gridDim.x - 1. Both need, from
// their caller:
// - every thread of every block calls them, once, in a one-dimensional grid of one-dimensional
//   blocks;
// - *counter was set to 0 before *every* launch: nothing here does it. Without that no block is the
//   last from the second launch on. The form for 2.0 hides it if the grid is a single block of more
//   than one thread: all its threads but the first compare 0 with 0;
// - a __syncthreads() before the call, unless thread 0 alone wrote what is to be read. Each thread
//   fences its own writes, but nothing makes thread 0 wait for the other threads' before it takes
//   the ticket;
// - a __threadfence() after the call, by the threads that read what other blocks wrote. The ticket
//   is a relaxed operation: it observes the other blocks' tickets, and acquires nothing.
#pragma once

#include <cuda_runtime.h>

namespace course::classic {

// The form for compute capability 2.0: the barrier itself carries the answer.
__device__ inline bool last_block_syncthreads_or(unsigned* counter) {
  __threadfence();
  unsigned last = 0;
  if (threadIdx.x == 0) last = atomicAdd(counter, 1);
  return __syncthreads_or(last == gridDim.x - 1);
}

// The form for compute capability 1.1: thread 0 tells the others through shared memory.
__device__ inline bool last_block_shared_flag(unsigned* counter) {
  __shared__ unsigned last;
  __threadfence();
  if (threadIdx.x == 0) last = atomicAdd(counter, 1);
  __syncthreads();
  return last == gridDim.x - 1;
}

}  // namespace course::classic
