// SPDX-License-Identifier: MIT
// What an OS thread of the device plays: here all multiprocessors in turn, in the scheduler's
// order. A launch is then the same at every run with the same seed, and it is known, and not
// guessed from the time that passes, when nothing can go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"

namespace cpu_backend {

class decisions;

class player {
 public:
  explicit player(unsigned) {}

  // Runs all blocks of `of` that are left, or stops at its failure, or where they wait.
  void run(grid& of);

  // What the watch over launches asks a multiprocessor for; see there.
  bool holds_block() const { return holds_block_.load(std::memory_order_relaxed); }
  bool waits_for_grid() const { return false; }
  std::uint64_t idle_turns() const { return 0; }
  std::uint64_t events() const { return events_.load(std::memory_order_relaxed); }

 private:
  struct resident_grid {
    grid* of = nullptr;
    std::vector<multiprocessor*> all;
    std::vector<multiprocessor*> taking_part;  // those that have a block, or may get one
    scheduler order;
  };

  resident_grid begin(grid& of);
  resident_grid take_waiting(grid& of);
  void take_turns(resident_grid& now);
  void start_by_decisions(grid& of, const std::vector<multiprocessor*>& resident, decisions& list);
  void run_by_decisions(grid& of, const std::vector<multiprocessor*>& resident, decisions& list,
                        bool goes_on);
  // Blocks that wait at a barrier of the grid go on, if it has opened, or never will.
  static void leave_grid_barriers(const grid& of, const std::vector<multiprocessor*>& resident);
  void fail_as_deadlock(grid& of, const std::vector<multiprocessor*>& resident);

  std::vector<std::unique_ptr<multiprocessor>> multiprocessors_;
  std::vector<resident_grid> waiting_;
  std::vector<std::uint64_t> unstarted_;  // blocks that a run by decisions does not let start
  std::atomic<bool> holds_block_ = false;
  std::atomic<std::uint64_t> events_ = 0;
};

// How many of them a launch takes.
constexpr std::uint64_t players_of(const grid&) { return 1; }

}  // namespace cpu_backend
