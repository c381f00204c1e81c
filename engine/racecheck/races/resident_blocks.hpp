// SPDX-License-Identifier: MIT
// The blocks that multiprocessors hold: their threads, their barriers, their shared memory.
#pragma once

#include <unordered_map>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/memory/access_history.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/memory/weak_memory.hpp"
#include "racecheck/order/launch_clocks.hpp"

namespace racecheck {

class resident_blocks {
 public:
  resident_blocks(launch_clocks& clocks, shadow_memory& memory, access_history& history,
                  weak_memory& weak)
      : clocks_(clocks), memory_(memory), history_(history), weak_(weak) {}

  // `first_block`: the number of its first block among those whose clocks go on.
  void begin_launch(unsigned threads_of_block, std::uint32_t first_block) {
    threads_of_block_ = threads_of_block;
    first_block_ = first_block;
  }
  void end_launch();

  void begin(const cpu_backend::observer::block& begun);
  void run(unsigned multiprocessor);
  void pause() { running_ = nullptr; }

  // What is no kernel's: one block of one thread, which runs until pause(). What a host thread does
  // later is another block, which knows what it knew.
  void begin_alone(const cpu_backend::work& given, std::uint32_t number) {
    block_state& of = alone_[given.is.timeline].clocks;
    const bool goes_on = given.kind == cpu_backend::work_kind::host && !of.threads.empty();
    clocks_.begin_block(of, number, 1, goes_on);
  }
  thread_state& run_alone(const cpu_backend::work& given) {
    running_ = &alone_[given.is.timeline];
    memory_.use_shared_memory_of(nullptr);
    return running_->clocks.threads.front();
  }
  void forget_alone() { alone_.clear(); }

  // ---- Of the block that runs.
  void end();
  block_state& running() { return running_->clocks; }
  const block_state& running() const { return running_->clocks; }
  void add_shared_variable(const cpu_backend::observer::shared_variable& variable);
  void barrier_arrives(const thread_state& by, bool orders_memory);
  // Returns whether it orders memory.
  bool barrier_opens();

 private:
  struct resident_block {
    block_state clocks;
    std::uint32_t first_block = 0;  // of its launch
    std::vector<region> shared_memory;
    bool barrier_orders_memory = true;
  };
  void forget_memory(resident_block& of);

  launch_clocks& clocks_;
  shadow_memory& memory_;
  access_history& history_;
  weak_memory& weak_;
  unsigned threads_of_block_ = 0;
  std::uint32_t first_block_ = 0;
  std::unordered_map<unsigned, resident_block> blocks_;      // by multiprocessor
  std::unordered_map<std::uint32_t, resident_block> alone_;  // by timeline
  resident_block* running_ = nullptr;
};

}  // namespace racecheck
