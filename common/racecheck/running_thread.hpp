// SPDX-License-Identifier: MIT
// The CUDA thread that runs on the calling OS thread; nullptr on a host thread, and while the
// backend works between threads.
#pragma once

#include "racecheck/synchronization.hpp"

namespace racecheck {

extern constinit __thread thread_state* running_thread;

// While the checker itself works, what it does to memory is not the thread's doing.
class checker_works {
 public:
  checker_works() : thread_(running_thread) { running_thread = nullptr; }
  ~checker_works() { running_thread = thread_; }
  checker_works(const checker_works&) = delete;
  checker_works& operator=(const checker_works&) = delete;
  thread_state& thread() const { return *thread_; }

 private:
  thread_state* thread_;
};

}  // namespace racecheck
