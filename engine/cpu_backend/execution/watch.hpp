// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/worker.hpp"

namespace cpu_backend {

class diagnostic;

// Decides whether a launch still moves. A loop that computes for long and a loop that waits for
// ever look the same from outside, so the first is given LAB_TIMEOUT seconds; blocks that do
// nothing but look at memory that nobody changes are recognised much sooner.
class watch {
 public:
  // A LAB_TIMEOUT that is no number of seconds ends the program with one sentence and status 2.
  watch(grid& of, std::vector<worker*> workers);

  // Called every now and then while the launch runs. Makes one that does not move fail.
  void look();

 private:
  using clock = std::chrono::steady_clock;

  void stop(const diagnostic& why);
  void interrupt();

  grid& grid_;
  std::vector<worker*> workers_;
  std::vector<std::uint64_t> idle_turns_;
  std::chrono::duration<double> patience_;
  clock::time_point moved_ = clock::now();
  clock::time_point computed_ = moved_;
  std::uint64_t events_ = 0;
};

}  // namespace cpu_backend
