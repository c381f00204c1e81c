// SPDX-License-Identifier: MIT
// The clocks of the running launch: those of the strict world at once, those of all others only
// where a race has to be diagnosed. Until then what happened is noted, and then it happens again in
// the other worlds, from the launch's begin or from the race before.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "racecheck/synchronization.hpp"

namespace racecheck {

class launch_clocks {
 public:
  // Returns whether epochs start over again, so that those of earlier launches must be forgotten.
  bool begin_launch();
  epoch launch_start() const { return strict_.launch_start(); }
  std::uint32_t block_of(epoch at) const { return strict_.block_of(at); }
  void begin_block(block_state& block, std::uint32_t number, unsigned threads);

  // As those of synchronization.
  void fence(block_state& block, thread_state& by, scope within, bool sequentially_consistent);
  void strong_read(block_state& block, thread_state& by, message& at, scope within, bool acquires,
                   bool updates);
  void strong_write(block_state& block, thread_state& by, message& at, scope within, bool releases,
                    bool updates);
  void weak_write(const thread_state& by, message& at);
  void barrier(block_state& block);
  void warp_barrier(block_state& block, unsigned first_rank, unsigned lanes);
  void grid_barrier_arrives(block_state& block, thread_state& by);
  void grid_barrier_passes(block_state& block, thread_state& by);

  bool before(const block_state& block, const thread_state& by, thread_name thread,
              epoch at) const {
    return strict_.before(block, by, thread, at);
  }
  const knowledge& strict_knowledge(const block_state& block, const thread_state& by) const {
    return strict_.current(block, by, 0);
  }

  // For the diagnosis, with the numbers of `worlds`.
  bool before_in(unsigned world, const block_state& block, const thread_state& by,
                 thread_name thread, epoch at);
  // Whether all of that is known: there were not too many operations, and no world's clocks grew
  // too large.
  bool knows_all_worlds() const { return !has_too_many_ && others_.knows_all_worlds(); }

 private:
  enum class kind : std::uint8_t {
    begin_block,
    fence,
    strong_read,
    strong_write,
    weak_write,
    barrier,
    warp_barrier,
    grid_barrier_arrives,
    grid_barrier_passes
  };
  struct noted {
    kind what{};
    scope within = scope::device;
    bool orders = false;  // sequentially consistent, acquires, releases
    bool updates = false;
    std::uint32_t block = 0;
    std::uint32_t rank = 0;      // the first one's of a warp; for a block how many threads it has
    std::uint32_t location = 0;  // for a barrier the number of `arrived_`, or none for all threads
    std::uint32_t lanes = 0;
  };
  static constexpr std::uint32_t all_threads = ~0u;
  // Threads that contend for a lock try again and again; to do all of that in all worlds would take
  // minutes. Barriers of the block cost next to nothing but room.
  static constexpr std::size_t most_noted = std::size_t{1} << 22;
  static constexpr std::size_t most_costly = 50'000;

  void note(const noted& what);
  void catch_up();
  void happen(const noted& what);

  synchronization strict_{std::span(worlds).first(1)};
  synchronization others_{std::span(worlds).subspan(1)};
  std::vector<noted> noted_;
  std::vector<std::vector<unsigned>> arrived_;  // at those barriers to which not all came
  std::size_t costly_ = 0;                      // of `noted_`
  bool has_too_many_ = false;
  // As far as `others_` has come: noted_[0, done_), and the blocks and places of memory there.
  std::size_t done_ = 0;
  std::unordered_map<std::uint32_t, block_state> blocks_;
  std::unordered_map<std::uint32_t, message> messages_;
};

}  // namespace racecheck
