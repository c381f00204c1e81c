// SPDX-License-Identifier: MIT
// The threads of a resident block that have begun, and the queues that they stand in.
#pragma once

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/fibers/fiber.hpp"
#include "vector_types.h"

namespace cpu_backend {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned max_threads_per_block = 1024;

enum class wait_reason { none, block_barrier, warp, spinning };

// A fiber and the CUDA thread that it holds. What a barrier touches comes first and fills one line
// of the cache, since a block has up to a thousand of these.
struct alignas(64) resident_thread {
  place waits_at{};
  uint3 index{};
  wait_reason reason = wait_reason::none;
  resident_thread* behind = nullptr;  // the next in the queue that this one stands in
  fiber own;
};

// First in, first out. A thread stands in at most one queue.
class thread_queue {
 public:
  bool empty() const { return !first_; }
  resident_thread* first() const { return first_; }
  void clear() { first_ = nullptr; }
  void push_front(resident_thread* thread) {
    if (!first_) last_ = thread;
    thread->behind = first_;
    first_ = thread;
  }
  void push(resident_thread* thread) {
    thread->behind = nullptr;
    (first_ ? last_->behind : first_) = thread;
    last_ = thread;
  }
  resident_thread* pop() {
    resident_thread* thread = first_;
    first_ = thread->behind;
    return thread;
  }
  // Takes all of `other`, in its order.
  void append(thread_queue& other) {
    if (other.empty()) return;
    (first_ ? last_->behind : first_) = other.first_;
    last_ = other.last_;
    other.clear();
  }
  // The same, before those that are here.
  void prepend(thread_queue& other) {
    if (other.empty()) return;
    if (!first_) last_ = other.last_;
    other.last_->behind = first_;
    first_ = other.first_;
    other.clear();
  }
  // The stack of the next in the queue is cold by now; half the time of a switch would go into
  // waiting for it.
  void prefetch_first_stack() const {
    if (first_) {
      __builtin_prefetch(first_->own.stack_pointer, 1);
      __builtin_prefetch(first_->behind, 1);
    }
  }

 private:
  resident_thread* first_ = nullptr;
  resident_thread* last_ = nullptr;
};

}  // namespace cpu_backend
