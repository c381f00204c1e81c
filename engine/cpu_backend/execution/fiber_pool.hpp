// SPDX-License-Identifier: MIT
// The fibers of one multiprocessor. Making a stack is dear, so each is kept for later blocks.
#pragma once

#include <deque>

#include "cpu_backend/execution/resident_thread.hpp"

namespace cpu_backend {

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

}  // namespace cpu_backend
