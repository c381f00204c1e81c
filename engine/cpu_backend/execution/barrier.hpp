// SPDX-License-Identifier: MIT
// The barrier of the resident block: who has come, at which place, and with which condition. Who
// waits for whom is the block's business.
#pragma once

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/resident_thread.hpp"

namespace cpu_backend {

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
  // Of the barrier that opened last: the next one can't open before all have arrived there.
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

}  // namespace cpu_backend
