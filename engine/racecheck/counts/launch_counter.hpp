// SPDX-License-Identifier: MIT
// Counts what each launch of a program does. Whoever uses it tells it what happens, in order, as
// event_consumer has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/counts/launch_counts.hpp"
#include "racecheck/counts/loaded_bytes.hpp"
#include "racecheck/memory/shadow.hpp"

namespace racecheck {

class launch_counter {
 public:
  // Later launches are not counted: a program with very many of them would fill the report.
  static constexpr std::size_t most_launches = 1000;

  void launch_begins(const cpu_backend::observer::launch& now);
  void launch_ends(bool failed, std::optional<std::uint64_t> unseen_bytes_stored,
                   loaded_pieces loaded);
  void block_begins(const cpu_backend::observer::block& begun);

  // ---- The block that runs: the others only between block_runs() and block_pauses().
  void block_runs(unsigned multiprocessor) { running_ = &blocks_[multiprocessor]; }
  void block_pauses() { running_ = nullptr; }
  void block_ends();
  void shared_variable_used(std::size_t bytes) { running_->static_shared_bytes += bytes; }

  // ---- What its threads do, each known by its rank in the block.
  void accessed(unsigned rank, region& in, std::size_t bytes, bool writes);
  void atomic_done(unsigned rank, region& in);
  void fenced(unsigned rank) { ++running_->threads[rank][event::fence]; }
  void barrier_arrives(bool orders_memory) { running_->barrier_orders_memory = orders_memory; }
  void barrier_opens() { running_->barriers_opened += running_->barrier_orders_memory; }
  void lanes_meet() { ++running_->counts.warp_barriers; }
  void grid_barrier_arrives() { ++running_->counts.grid_barriers; }

  // In the order of their launches. One that runs still is the last, with what it has done so far.
  std::vector<launch_counts> launches() const;

 private:
  struct resident_block {
    std::vector<event_counts> threads;
    group_counts counts;  // its events only at the end
    std::uint64_t barriers_opened = 0;
    bool barrier_orders_memory = true;
    std::size_t static_shared_bytes = 0;
  };
  static void add(const resident_block& done, launch_counts& to);
  void uses_shared_memory(region& used);

  std::vector<launch_counts> done_;
  launch_counts now_;
  bool is_in_launch_ = false;
  std::unordered_map<unsigned, resident_block> blocks_;  // by multiprocessor
  resident_block* running_ = nullptr;
};

}  // namespace racecheck
