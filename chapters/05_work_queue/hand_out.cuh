// SPDX-License-Identifier: MIT
// Ways to hand out `count` items to the blocks of a grid. Each is a type with one device function,
// for_each(work), which all threads of the grid call once, in one-dimensional blocks. It calls
// work(item, team), by all threads of the team, for the items that this team gets; all teams of the
// grid together get each item exactly once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "05_work_queue/work_queue.cuh"

namespace course {

// The threads that work on one item together: a whole block, or one warp of it.
struct team {
  unsigned rank;  // Of the calling thread, below `size`.
  unsigned size;

  // A barrier for the team's threads, which must all come. Orders their memory accesses.
  __device__ void synchronize() const {
    if (size == blockDim.x) {
      __syncthreads();
    } else {
      __syncwarp(0xffffffffU >> (32 - size));
    }
  }
};

__device__ inline team whole_block() { return {.rank = threadIdx.x, .size = blockDim.x}; }

__device__ inline team calling_warp() {
  const unsigned rank = threadIdx.x % 32;
  const unsigned from_here = blockDim.x - (threadIdx.x - rank);
  return {.rank = rank, .size = from_here < 32 ? from_here : 32};
}

// ---- Without any word between blocks: who gets what is fixed before the launch.

// Neighbouring items go to the same block, equally many to each.
template <class Item>
struct contiguous_ranges {
  const Item* items;
  std::size_t count;

  template <class Work>
  __device__ void for_each(Work work) const {
    const std::size_t first = begin_of(blockIdx.x);
    const std::size_t last = begin_of(blockIdx.x + std::size_t{1});
    for (std::size_t i = first; i < last; ++i) work(items[i], whole_block());
  }

 private:
  // count * block / gridDim.x, in a way that does not overflow.
  __device__ std::size_t begin_of(std::size_t block) const {
    return count / gridDim.x * block + count % gridDim.x * block / gridDim.x;
  }
};

// Item i goes to block i % gridDim.x.
template <class Item>
struct grid_stride {
  const Item* items;
  std::size_t count;

  template <class Work>
  __device__ void for_each(Work work) const {
    for (std::size_t i = blockIdx.x; i < count; i += gridDim.x) work(items[i], whole_block());
  }
};

// A block for each item, and the hardware's scheduler decides which runs when. For a grid of
// `count` blocks or more.
template <class Item>
struct one_block_each {
  const Item* items;
  std::size_t count;

  template <class Work>
  __device__ void for_each(Work work) const {
    if (blockIdx.x < count) work(items[blockIdx.x], whole_block());
  }
};

// ---- By the queue: a block that is free takes the next item.

template <class Item>
struct by_queue {
  work_queue<Item> queue;

  template <class Work>
  __device__ void for_each(Work work) const {
    for (Item item = queue.fetch(); !(item == Item::none()); item = queue.fetch()) {
      work(item, whole_block());
    }
  }
};

}  // namespace course
