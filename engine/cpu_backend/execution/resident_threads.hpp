// SPDX-License-Identifier: MIT
// The threads of a resident block that have begun: the fibers that hold them, the queues that they
// stand in, and where they wait for each other, which is the block's barrier and the meetings of
// its warps' lanes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

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

// The fibers of one multiprocessor. Making a stack is dear, so each is kept for later blocks.
class fiber_pool {
 public:
  // All fibers begin in `entry`, which must never return. (Not inline, as warp_meetings::close().)
  explicit fiber_pool(void (*entry)());

  // One that holds no thread; makes it if need be.
  resident_thread* take() {
    if (idle_.empty()) return make();
    resident_thread* fiber = idle_.pop();
    idle_.prefetch_first_stack();
    return fiber;
  }
  void put_back(resident_thread* fiber) { idle_.push_front(fiber); }

  // Every fiber forgets what it was doing, and is idle.
  void restart_all();

  const std::deque<resident_thread>& all() const { return fibers_; }

 private:
  resident_thread* make();

  void (*entry_)();
  thread_queue idle_;
  std::deque<resident_thread> fibers_;
  std::deque<fiber_stack> stacks_;  // of the fiber with the same number
};

// The barrier of the resident block: who has come, at which place, and with which condition. Who
// waits for whom is the block's business.
class barrier {
 public:
  // Where the last thread came. All of one barrier come at the same place.
  const place& called_from() const { return place_; }
  void move_to(place at) { place_ = at; }

  // One more has come; returns how many that are.
  unsigned arrive() { return ++arrived_; }
  unsigned arrived() const { return arrived_; }
  // Besides arriving, the thread came with this condition.
  void count(bool condition) { counted_ += condition; }

  void wait(resident_thread* thread) { waiting_.push(thread); }
  thread_queue& waiting() { return waiting_; }

  // Lets those that wait go on, at the end of `runnable`.
  void open(thread_queue& runnable) {
    runnable.append(waiting_);
    participants_of_last_ = arrived_;
    counted_at_last_ = counted_;
    arrived_ = counted_ = 0;
  }
  // Results of the barrier that opened last: the next one can't open before all have arrived there.
  unsigned participants_of_last() const { return participants_of_last_; }
  unsigned counted_at_last() const { return counted_at_last_; }

  // Forgets the threads of a block that has failed.
  void clear() {
    arrived_ = counted_ = 0;
    waiting_.clear();
  }

 private:
  unsigned arrived_ = 0;
  unsigned counted_ = 0;
  place place_{};
  thread_queue waiting_;
  unsigned counted_at_last_ = 0;
  unsigned participants_of_last_ = 0;
};

// Lanes of one warp that wait for each other. A warp can have several, for different masks.
struct warp_meeting {
  unsigned mask = 0;
  unsigned arrived = 0;
  unsigned left = 0;
  const char* operation = nullptr;  // "__shfl_sync()", ...
  place first_place{};
  std::uint64_t value[warp_size]{};
  resident_thread* waiter[warp_size]{};
};

// Where the lanes of the resident block's warps meet: for __syncwarp(), votes, shuffles,
// reductions.
class warp_meetings {
 public:
  // A block of `threads` threads, of which those with a rank below `first_present` have returned.
  void begin_block(unsigned first_present, unsigned threads);

  // The open meeting of these lanes of a warp; nullptr if the first of them is still to come.
  warp_meeting* find(unsigned warp, unsigned mask) const {
    for (warp_meeting* candidate : warps_[warp].open) {
      if (candidate->mask == mask) return candidate;
    }
    return nullptr;
  }
  warp_meeting& open(unsigned warp, unsigned mask, const char* operation, const place& at);
  // Notes that `thread` waits in the meeting for the others.
  void wait(warp_meeting& meeting, unsigned lane, resident_thread* thread) {
    meeting.waiter[lane] = thread;
    ++waiting_;
  }
  // Whether all lanes have come that have not returned. Then the meeting is no longer open, and
  // those that wait go on: at the end of `runnable`, or before all others if the warp runs ahead.
  bool close_if_complete(unsigned warp, warp_meeting& meeting, thread_queue& runnable) {
    if (meeting.mask & ~(meeting.arrived | warps_[warp].returned)) return false;
    close(warp, meeting, runnable);
    return true;
  }
  // The lane has read what it wanted from a closed meeting; the last one to do so ends it.
  void leave(warp_meeting& meeting, unsigned lane) {
    meeting.left |= 1u << lane;
    if (meeting.left == meeting.arrived) free_.push_back(&meeting);
  }

  void lane_returned(unsigned warp, unsigned lane) { warps_[warp].returned |= 1u << lane; }
  bool has_returned(unsigned warp, unsigned lane) const {
    return warps_[warp].returned >> lane & 1;
  }
  const std::vector<warp_meeting*>& open_in(unsigned warp) const { return warps_[warp].open; }
  // Threads that wait for other lanes.
  unsigned waiting() const { return waiting_; }

  // Whether that is part of what leave() accesses.
  bool hold(const void* address) const;
  // Forgets the threads of a block that has failed.
  void clear();

 private:
  // Not inline: g++ would instantiate what it uses for every file that includes this. (leave() is
  // inlined into kernels, and a submission may call nothing here.)
  void close(unsigned warp, warp_meeting& meeting, thread_queue& runnable);

  struct warp {
    unsigned returned = 0;  // lanes that are gone, and lanes that the block never had
    std::vector<warp_meeting*> open;
  };
  warp warps_[max_threads_per_block / warp_size];
  std::deque<warp_meeting> meetings_;
  std::vector<warp_meeting*> free_;
  unsigned waiting_ = 0;
};

}  // namespace cpu_backend
