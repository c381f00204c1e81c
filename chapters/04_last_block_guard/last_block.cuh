// SPDX-License-Identifier: MIT
// The last-block guard: which block of the grid is the last to get here? That one may read what all
// others wrote before they got here.
// The idea is that of "Inter-block communication" (Stack Overflow Documentation), the code is new:
// docs/sources.md.
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
#else
#define COURSE_ASSERT_SAME(argument)
#endif

namespace course {
inline namespace v1 {

using cooperative_groups::thread_block;

// Rank of the calling thread's block in the grid, of one to three dimensions; x runs fastest.
__device__ inline unsigned long long block_rank() {
  return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
         blockIdx.x;
}
__device__ inline unsigned long long block_count() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}

// Counts one arrival of the calling block. Returns true, in all its threads, if that was number
// `expected`, else false. Then *counter is 0 again.
// - Every thread of the block calls it, at the same place, with the same arguments. None has
//   returned: the barriers do not wait for such a thread, so what it wrote is not published; and
//   without thread 0 the block does not arrive, and what is returned is undefined.
// - The arrivals at *counter are exactly `expected`, from 1 to 2^32 - 1, before the launch ends;
//   any number of each block.
// - *counter is in global memory and was 0 at the launch. No other thread touches it
//   meanwhile: launches that can overlap have a counter each, and partial results of their own.
// What any thread of an arrived block wrote before it called this may be read, after the call that
// returns true, by all threads of that block. Written and read by ordinary stores, loads and
// atomics. A bulk copy (cp.async.bulk) that wrote must be complete before the call, by a wait_group
// without .read, and needs no fence: PTX puts one after its completion. One that reads after the
// call needs fence.proxy.async before it. A texture read of what the same kernel wrote is
// undefined, and no fence helps.
// Errors: a *counter that was `expected` or more at the launch always stops the kernel with
// __trap(). An arrival too many, or a *counter that was above 0 and less, may do so, if an arrival
// finds `expected` or more before the last block has set *counter back. After that it goes
// unnoticed, *counter is left above 0, and later launches are wrong too. After a launch in which
// arrivals were missing or too many, set *counter to 0.
__device__ inline bool last_arrival(unsigned* counter, unsigned long long expected) {
  COURSE_ASSERT_SAME(counter);
  COURSE_ASSERT_SAME(expected);
  __shared__ unsigned earlier;
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrivals(*counter);
  // All threads' writes are done, for thread 0 to publish; and no thread reads `earlier` any more.
  __syncthreads();
  // Release: what this block wrote. Acquire: what all that arrived earlier wrote.
  if (thread_block::thread_rank() == 0) {
    earlier = arrivals.fetch_add(1, cuda::memory_order_acq_rel);
  }
  // What thread 0 has acquired, all threads may read.
  __syncthreads();
  const bool is_last = earlier == expected - 1;
  if (thread_block::thread_rank() == 0) {
    if (earlier >= expected || expected > 0xffffffffULL) __trap();  // *counter was not 0
    if (is_last) arrivals.store(0, cuda::memory_order_relaxed);     // ready for the next launch
  }
  return is_last;
}

// Returns true in all threads of the one block of the grid that calls it last, else false.
// last_arrival's contract, with one arrival of every block of the grid. One to three dimensions, at
// most 2^32 - 1 blocks.
__device__ inline bool last_block(unsigned* counter) {
  return last_arrival(counter, block_count());
}

}  // namespace v1
}  // namespace course
