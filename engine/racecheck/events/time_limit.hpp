// SPDX-License-Identifier: MIT
// The end of a program's time: what was found until then is reported, and the program ends.
//
// A thread of a kernel stops where it comes to the checker next, so that the checker is not in the
// middle of anything; another thread then reports. report/time_watch.cpp decides when.
#pragma once

#include <atomic>

namespace racecheck {

class time_limit {
 public:
  // Called by whoever comes to the checker; does not return once the time is over.
  void check() {
    if (is_over_.load(std::memory_order_relaxed)) [[unlikely]]
      stop_for_good();
  }
  // From here on check() stops its callers.
  void end() { is_over_.store(true); }
  // To be called by whoever reports: its own calls of the checker are let through.
  void let_through() { is_over_.store(false); }
  bool has_stopped_a_thread() const { return has_stopped_.load(); }
  // Whether the checker works just now.
  bool checker_works() const { return works_.load(); }
  bool launch_runs() const { return launch_runs_.load(); }
  void set_launch_runs(bool runs) { launch_runs_.store(runs); }
  bool set_checker_works(bool works) {
    const bool before = works_.load(std::memory_order_relaxed);
    works_.store(works, std::memory_order_relaxed);
    return before;
  }

 private:
  [[noreturn]] void stop_for_good();

  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_stopped_ = false;
  std::atomic<bool> works_ = false;
  std::atomic<bool> launch_runs_ = false;
};

extern constinit time_limit time_of_program;

}  // namespace racecheck
