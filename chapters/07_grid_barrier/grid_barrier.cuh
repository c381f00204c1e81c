// SPDX-License-Identifier: MIT
// A barrier for all blocks of a grid: no block goes on until every block has come here.
// All blocks must be resident, that is, on an SM at the same time: a cooperative launch is refused
// if they don't fit. In a plain launch a block that waits can keep the one that it waits for out.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/atomic>

// With COURSE_ENABLE_ASSERTIONS a call stops the kernel with __trap(), unless all threads of the
// block make it, with the same argument. Otherwise nothing is checked. The course's headers agree
// on this.
#ifdef COURSE_ENABLE_ASSERTIONS
#define COURSE_ASSERT_SAME(argument)                              \
  do {                                                            \
    __shared__ decltype(argument) first;                          \
    if (thread_block::thread_rank() == 0) first = argument;       \
    __syncthreads();                                              \
    const int same = __syncthreads_count(argument == first);      \
    if (same != static_cast<int>(thread_block::size())) __trap(); \
  } while (false)
#define COURSE_ASSERT(condition) ((condition) ? void() : __trap())
#else
#define COURSE_ASSERT_SAME(argument)
#define COURSE_ASSERT(condition)
#endif

namespace course {
inline namespace v1 {

using cooperative_groups::thread_block;

// What a thread does between two polls: by default nothing. Where many threads poll for long, as
// beside other kernels, __nanosleep() leaves them more of the memory's bandwidth.
#ifndef COURSE_NO_DELAY
#define COURSE_NO_DELAY
struct no_delay {
  __device__ void operator()() const {}
};
#endif

// What a grid's barrier counts, in global memory. Both are 0 before the first launch, and are
// not set back: not between two barriers, and not between two launches. The next grid may have
// another size. Launches that can overlap have a barrier each.
struct grid_barrier_words {
  unsigned arrived;     // Blocks that have come to the current barrier: 0 while none waits.
  unsigned generation;  // How many barriers have opened, modulo 2^32.
};

// Returns when every block of the grid has called it as often as the calling one.
// - Every thread of every block calls it, at the same places, in a grid of one to three dimensions.
// - The launch is cooperative.
// - *words is in global memory, and nothing else touches it while the kernel runs.
// What any thread of the grid wrote before its call may be read by all threads after theirs, by
// ordinary loads, stores and atomics. A bulk copy (cp.async.bulk) that wrote must be complete
// before the call, by a wait_group without .read; one that reads after it needs fence.proxy.async
// before it. A texture read of what the same kernel wrote is undefined.
// Errors: a launch that is not cooperative stops with __trap(). If a block returns without a call
// that others make, they wait for ever. After a launch that did not end, set both words to 0. With
// COURSE_ENABLE_ASSERTIONS words that differ, or that count too many arrivals, stop the kernel.
template <class Delay = no_delay>
__device__ void grid_barrier(grid_barrier_words* words, Delay delay = {}) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(words->arrived);
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> generation(words->generation);
  COURSE_ASSERT_SAME(words);
  COURSE_ASSERT(arrived.load(cuda::memory_order_relaxed) < gridDim.x * gridDim.y * gridDim.z);
  __syncthreads();  // All threads of the block are here, and thread 0 publishes what they wrote.
  if (thread_block::thread_rank() == 0) {
    if (!cooperative_groups::this_grid().is_valid()) __trap();  // The launch is not cooperative.
    const unsigned now = generation.load(cuda::memory_order_relaxed);
    const unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == others) {
      arrived.store(0, cuda::memory_order_relaxed);  // for the next barrier, before this one opens
      generation.store(now + 1, cuda::memory_order_release);
    } else {
      while (generation.load(cuda::memory_order_acquire) == now) delay();
    }
  }
  __syncthreads();  // What thread 0 has acquired, all threads of the block may read.
}

}  // namespace v1
}  // namespace course
