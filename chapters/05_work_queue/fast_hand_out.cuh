// SPDX-License-Identifier: MIT
// Chapter 05, made fast: the queue with fewer or cheaper fetches, and with fetches by warps. Each
// type is a way to hand out items, as those of hand_out.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/work_queue.cuh"

namespace course {

// The first item of each block needs no atomic and no barrier: it is the block's number.
template <class Item>
struct by_queue_first_static {
  work_queue<Item> queue;

  template <class Work>
  __device__ void for_each(Work work) const {
    for (Item item = queue.item_at(blockIdx.x); !(item == Item::none());
         item = queue.fetch(gridDim.x)) {
      work(item, whole_block());
    }
  }
};

// `chunk` items a fetch, from 1 to 2^32: fewer atomics, but the last chunks end later.
template <class Item>
struct by_queue_in_chunks {
  work_queue<Item> queue;
  std::size_t chunk;

  template <class Work>
  __device__ void for_each(Work work) const {
    __shared__ std::size_t first_number;
    for (;;) {
      if (threadIdx.x == 0) first_number = queue.take_numbers(chunk);
      __syncthreads();
      const std::size_t first = first_number;
      __syncthreads();
      if (first >= queue.size()) return;
      for (std::size_t i = first; i < first + chunk && i < queue.size(); ++i) {
        work(queue.item_at(i), whole_block());
      }
    }
  }
};

// Thread 0 asks for the next number before the work on this item begins, and needs the answer only
// when it ends: the counter's round trip is hidden. The items in two places take turns, so one
// barrier an item is enough. Each block holds one item more than it works on.
template <class Item>
struct by_queue_ahead {
  work_queue<Item> queue;

  template <class Work>
  __device__ void for_each(Work work) const {
    __shared__ Item fetched[2];
    std::size_t number = 0;
    if (threadIdx.x == 0) number = queue.take_numbers(1);
    for (unsigned turn = 0;; turn = 1 - turn) {
      if (threadIdx.x == 0) fetched[turn] = queue.item_at(number);
      __syncthreads();
      // This place is written again two turns from now. Between lies the next turn's barrier, and
      // before it all threads have read what they read here.
      const Item item = fetched[turn];
      if (item == Item::none()) return;
      if (threadIdx.x == 0) number = queue.take_numbers(1);
      work(item, whole_block());
    }
  }
};

// Each warp fetches for itself: no barrier at all, and no warp waits for the slowest of its block.
template <class Item>
struct by_queue_each_warp {
  work_queue<Item> queue;

  template <class Work>
  __device__ void for_each(Work work) const {
    for (Item item = queue.fetch_by_warp(); !(item == Item::none()); item = queue.fetch_by_warp()) {
      work(item, calling_warp());
    }
  }
};

}  // namespace course
