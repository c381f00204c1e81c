// SPDX-License-Identifier: MIT
// A barrier for all blocks of a grid: no block goes on until every block has come here.
// All blocks must be resident, that is, on an SM at the same time: a cooperative launch is refused
// if they don't fit. In a plain launch a block that waits can keep the one that it waits for out.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/atomic>

namespace course {
inline namespace v1 {

// What a grid's barrier counts, in global memory. Both are 0 before the first launch, and are
// not set back: not between two barriers, and not between two launches. The next grid may have
// another size. Launches that can overlap have a barrier each.
struct grid_barrier_words {
  unsigned arrived;     // Blocks that have come to the current barrier: 0 while none waits.
  unsigned generation;  // How many barriers have opened, modulo 2^32.
};

// Returns when every block of the grid has called it as often as the calling one.
// - Every thread of every block calls it, at the same places, in a grid of one to three dimensions.
// - The launch is cooperative. In any other launch it may hang, or seem to work.
// - *words is in global memory, and nothing else touches it while the kernel runs.
// What any thread of the grid wrote before its call may be read by all threads after theirs, by
// ordinary loads, stores and atomics: bulk copies also need a proxy fence. A texture read of what
// the same kernel wrote is undefined.
// Errors: none that it reports. If a block returns without a call that others make, they wait for
// ever. After a launch that did not end, set both words to 0.
__device__ inline void grid_barrier(grid_barrier_words* words) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(words->arrived);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> generation(words->generation);
  __syncthreads();  // All threads of the block are here, and thread 0 publishes what they wrote.
  if (cooperative_groups::thread_block::thread_rank() == 0) {
    const unsigned now = generation.load(cuda::memory_order_relaxed);
    const unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == others) {
      arrived.store(0, cuda::memory_order_relaxed);  // for the next barrier, before this one opens
      generation.store(now + 1, cuda::memory_order_release);
    } else {
      while (generation.load(cuda::memory_order_acquire) == now) {
      }
    }
  }
  __syncthreads();  // What thread 0 has acquired, all threads of the block may read.
}

}  // namespace v1
}  // namespace course
