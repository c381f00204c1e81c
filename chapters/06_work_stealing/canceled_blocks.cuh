// SPDX-License-Identifier: MIT
// Work stealing by the hardware's own scheduler: a block that has finished cancels the launch of
// one that has not started, and works in its place. After "Work stealing" in the documentation of
// libcu++: docs/sources.md.
#pragma once

#include <cuda/version>
#include <cuda/work_stealing>

#include <cstddef>

#include "05_work_queue/hand_out.cuh"

namespace course {

// Calls function(index) with the calling block's own index, and then with the index of each block
// whose launch this block could cancel, until a cancel fails. libcu++'s function, whose name has
// moved: cuda:: up to CCCL 3.1, cuda::device:: from 3.2 on.
// - Every thread of the block calls it, at the same place, once in the kernel.
// - rank is from 1 to 3, and the block has no more dimensions than that. Components of `index`
//   beyond the rank mean nothing (in libcu++ 3.0 to 3.5 they are 1 in the block's own index, and
//   0 in one of a block that it canceled).
// - `function` looks at `index`, never at blockIdx: that stays the calling block's own.
// - Gives no memory synchronisation: tiles that use the same shared memory need a __syncthreads()
//   between them.
// Blocks are canceled in code that is compiled for compute capability 10.0 or newer. In other code,
// on a newer GPU too, each block is called with its own index alone, and the result is the same. A
// cancel may also fail while blocks are left.
template <int rank, class Function>
__device__ void for_each_canceled_block(Function function) {
#if CCCL_VERSION >= 3002000
  cuda::device::for_each_canceled_block<rank>(function);
#else
  cuda::for_each_canceled_block<rank>(function);
#endif
}

// The number of a block in a grid of `rank` dimensions: x runs fastest, then y.
template <int rank>
__device__ std::size_t number_of(dim3 index) {
  std::size_t number = rank >= 3 ? index.z : 0;
  number = rank >= 2 ? number * gridDim.y + index.y : 0;
  return number * gridDim.x + index.x;
}

// A way to hand out items, as those of chapter 05: for a grid of `count` blocks or more, of which
// those that run take over those that have not started.
template <class Item>
struct by_canceling {
  const Item* items;
  std::size_t count;

  template <class Work>
  __device__ void for_each(Work work) const {
    for_each_canceled_block<1>([&](dim3 index) {
      if (index.x < count) work(items[index.x], whole_block());
    });
  }
};

// Work that also counts, for a look at who did what: `launched` the blocks that ran at all, and
// claims[number(item)] how often the item was done. All were 0 before the launch.
template <class Work>
struct tallied {
  Work work;
  unsigned* launched;
  unsigned* claims;

  __device__ void begin() const {
    if (threadIdx.x == 0) atomicAdd(launched, 1U);
    work.begin();
  }
  template <class Item>
  __device__ void operator()(const Item& item, const team& workers) const {
    work(item, workers);
    if (workers.rank == 0) atomicAdd(claims + work.number(item), 1U);
  }
  __device__ void end() const { work.end(); }
};

}  // namespace course
