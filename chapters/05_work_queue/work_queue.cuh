// SPDX-License-Identifier: MIT
// A queue of work items in global memory. Whichever block is free takes the next item, by one
// atomic addition to a counter that all blocks share.
// The idea and the interface are those of "Inter-block communication" (Stack Overflow
// Documentation), the code is new: docs/sources.md.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/atomic>
#include <cuda/std/type_traits>

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

// What a queue counts, in global memory. Before a launch that fetches: the number of items, and 0.
// Before the first launch that appends: 0 and 0. Launches that can overlap have counters of their
// own.
struct work_queue_counters {
  size_t size;  // Items that were put in.
  size_t next;  // Items that were asked for; grows beyond `size` once the queue is empty.
};

// What a queue can hold: a small handle to the work, not the work itself.
// - Item::none(), a device function, is an item that stands for "no work".
// - Two items can be compared by ==.
// - It is trivially copyable and trivially default constructible, because it travels through shared
//   memory, and no thread runs constructors for what lies there.
template <class Item>
concept work_item = cuda::std::is_trivially_copyable_v<Item> &&
    cuda::std::is_trivially_default_constructible_v<Item> && requires(Item item) {
  requires cuda::std::is_same_v<decltype(Item::none()), Item>;
  requires cuda::std::is_convertible_v<decltype(item == item), bool>;
};

// A kernel's access to the queue; copied into kernels by value. It owns nothing: the host that
// launches the kernels owns the memory of the items and of the counters, as work_queue_memory does
// for the course.
//
// A kernel that fetches does not append, and one that appends does not fetch: the items and their
// number must have been written before the launch. Then a fetch needs no order but the counter's
// own, and the atomic can be relaxed: two fetches never get the same number.
template <class Item>
class work_queue {
  static_assert(work_item<Item>,
                "an item has a trivial default constructor and copy, a none() and an ==");

 public:
  // `items` has room for `capacity` items; both pointers are to global memory.
  __host__ __device__ work_queue(Item* items, size_t capacity, work_queue_counters* counters)
      : items_(items), capacity_(capacity), counters_(counters) {}

  // The next item, the same for all threads of the block; Item::none() when there is none left, and
  // at every call after that.
  // - All threads of the block call it, at the same place. A block of one to three dimensions.
  // - `already_taken`, the same in all calls of a launch, leaves out that many items at the front:
  //   those that the blocks took without asking.
  // Gives no memory synchronisation between blocks.
  __device__ Item fetch(size_t already_taken = 0) const {
    COURSE_ASSERT_SAME(already_taken);
    __shared__ Item fetched;
    if (thread_block::thread_rank() == 0) {
      fetched = item_at(already_taken + take_numbers(1));
    }
    __syncthreads();  // The item is there.
    const Item item = fetched;
    __syncthreads();  // All have read it, and it may be overwritten.
    return item;
  }

  // As fetch(), for a warp: the lanes of the calling thread's warp call it together, and other
  // warps fetch others. In a block of one to three dimensions; the last warp may be partly filled.
  // Orders no memory between the lanes: if they share some, put __syncwarp() around the call.
  __device__ Item fetch_by_warp() const {
    constexpr unsigned warp_size = 32;
    const unsigned lane = thread_block::thread_rank() % warp_size;
    const unsigned lanes_from_here = thread_block::size() - (thread_block::thread_rank() - lane);
    const unsigned lanes = lanes_from_here < warp_size ? lanes_from_here : warp_size;
    unsigned long long number = 0;
    if (lane == 0) number = take_numbers(1);
    number = __shfl_sync(0xffffffffU >> (warp_size - lanes), number, 0);
    return item_at(number);
  }

  // The two halves of a fetch, for any one thread: numbers that no other thread gets, `count`
  // from the returned one on; and the item of a number, Item::none() from size() on.
  __device__ size_t take_numbers(size_t count) const {
    return next().fetch_add(count, cuda::memory_order_relaxed);
  }
  __device__ Item item_at(size_t number) const {
    return number < size() ? items_[number] : Item::none();
  }

  // How many items were put in. For any thread of a kernel that fetches.
  __device__ size_t size() const {
    return counters_->size < capacity_ ? counters_->size : capacity_;
  }

  // Puts an item in. For any thread of a kernel that does not fetch. Items of concurrent calls have
  // no particular order. One beyond the capacity is dropped; `size` of the counters tells.
  __device__ void append(Item item) const {
    const cuda::atomic_ref<size_t, cuda::thread_scope_device> count(counters_->size);
    const size_t place = count.fetch_add(1, cuda::memory_order_relaxed);
    if (place < capacity_) items_[place] = item;
  }

 private:
  __device__ cuda::atomic_ref<size_t, cuda::thread_scope_device> next() const {
    return cuda::atomic_ref<size_t, cuda::thread_scope_device>(counters_->next);
  }

  Item* items_;
  size_t capacity_;
  work_queue_counters* counters_;
};

}  // namespace v1
}  // namespace course
