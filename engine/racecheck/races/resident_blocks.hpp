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

  void begin_launch(unsigned threads_of_block) { threads_of_block_ = threads_of_block; }
  void end_launch();

  void begin(const cpu_backend::observer::block& begun);
  void run(unsigned multiprocessor);
  void pause() { running_ = nullptr; }

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
    std::vector<region> shared_memory;
    bool barrier_orders_memory = true;
  };
  void forget_memory(resident_block& of);

  launch_clocks& clocks_;
  shadow_memory& memory_;
  access_history& history_;
  weak_memory& weak_;
  unsigned threads_of_block_ = 0;
  std::unordered_map<unsigned, resident_block> blocks_;  // by multiprocessor
  resident_block* running_ = nullptr;
};

}  // namespace racecheck
