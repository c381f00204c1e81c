// SPDX-License-Identifier: MIT
// The clocks of one launch. docs/racecheck.md gives the rules that the functions here follow, under
// the same names.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "racecheck/order/thread_state.hpp"

namespace racecheck {

// The clocks of some worlds.
class synchronization {
 public:
  explicit synchronization(std::span<const world> of)
      : worlds_(of),
        given_up_(of.size()),
        at_grid_barrier_{std::vector<knowledge>(of.size()), std::vector<knowledge>(of.size())} {}

  // From here on fence.sc operations happen in the order in which they are executed: in the first
  // world an earlier one is before a later one, if their scopes let them. (Else only where
  // something shows in which order they are: a race must not be missed because of the schedule.)
  void order_sc_fences() { orders_sc_fences_ = true; }

  // Its first epoch is `start`: all that is older is before the kernel's start.
  void begin_launch(epoch start);
  epoch launch_start() const { return launch_start_; }
  epoch last_epoch() const { return counter_; }
  std::uint32_t block_of(epoch at) const { return blocks_of_epochs_[at - launch_start_]; }
  void begin_block(block_state& block, std::uint32_t number, unsigned threads);

  void fence(block_state& block, thread_state& by, scope within, bool sequentially_consistent);
  // The reading and the writing half of a strong operation, in this order for a read-modify-write.
  void strong_read(block_state& block, thread_state& by, const message& at, scope within,
                   bool acquires, bool updates);
  void strong_write(block_state& block, thread_state& by, message& at, scope within, bool releases,
                    bool updates);
  void weak_write(const thread_state& by, message& at);

  void barrier(block_state& block);  // of block.arrived
  void warp_barrier(block_state& block, unsigned first_rank, unsigned lanes);
  void grid_barrier_arrives(block_state& block, thread_state& by);
  void grid_barrier_passes(block_state& block, thread_state& by);

  // Whether what `thread` did in epoch `at` is before what `by` does now, in the first world. (The
  // others take a barrier for granted that may not be there: see before_in.)
  bool before(const block_state& block, const thread_state& by, thread_name thread,
              epoch at) const {
    if (at < launch_start_ || thread == by.name) return true;
    if (thread.block == block.number && at <= block.floor_of(thread.rank)) return true;
    const knowledge* fork = by.fork(0);
    const knowledge* knows = fork ? fork : block.base[0].get();
    return knows && knows->now.order.covers(thread, at);
  }
  // The same in any world, but for what the block's own barriers order; for the diagnosis. False in
  // a world that was given up.
  bool before_in(unsigned world, const block_state& block, const thread_state& by,
                 thread_name thread, epoch at) const;
  // The same for any thread of the block.
  bool before_any_in(unsigned world, const block_state& block, thread_name thread, epoch at) const;
  bool knows_world(unsigned world) const { return in_use(world); }
  // Whether no world was given up because its clocks grew large.
  bool knows_all_worlds() const {
    return std::none_of(given_up_.begin(), given_up_.end(), [](bool gone) { return gone; });
  }
  const knowledge& current(const block_state& block, const thread_state& by, unsigned in) const {
    if (const knowledge* fork = by.fork(in)) return *fork;
    return block.base[in] ? *block.base[in] : nothing;
  }

 private:
  static const knowledge nothing;

  // Who takes an epoch is always of one block.
  epoch next(std::uint32_t block) {
    if (blocks_of_epochs_.size() == blocks_of_epochs_.capacity()) {
      blocks_of_epochs_.reserve(blocks_of_epochs_.size() * 5 / 4 + 256);
    }
    blocks_of_epochs_.push_back(block);
    return ++counter_;
  }
  thread_state::in_world& state_of(thread_state& by, unsigned in) {
    if (!by.own_state) by.own_state = std::make_unique<thread_state::in_world[]>(worlds_.size());
    return by.own_state[in];
  }
  bool covers(unsigned world, const clock& order, thread_name thread, epoch at) const;
  // Copies what `by` shares with its block, so that it can be changed.
  knowledge& change(const block_state& block, thread_state& by, unsigned in);
  void see(const block_state& block, thread_state::in_world& state, std::uint32_t location,
           const shared<heads>& released);
  shared<heads> handed_over(const block_state& block, const thread_state::in_world& state,
                            std::uint32_t location, const shared<heads>& continued) const;
  void see_pending_fences(block_state& block, thread_state& by, unsigned in, scope within);
  void see_earlier_sc_fences(block_state& block, thread_state& by, scope within);
  void note_sc_fence(const block_state& block, scope within, const known& now);
  // What `by` knows, with all that it has done itself.
  known with_itself(const block_state& block, thread_state& by, unsigned in);
  bool in_use(unsigned in) const { return !given_up_[in]; }
  bool may_give_up(unsigned in) const { return worlds_[in] != world{}; }
  void watch_size(unsigned in, std::size_t size);

  std::span<const world> worlds_;
  epoch counter_ = 0;
  epoch launch_start_ = 0;
  std::vector<std::uint32_t> blocks_of_epochs_;  // of this launch
  std::vector<bool> given_up_;
  // What the blocks know that have arrived at the barriers of even number, and of odd number. One
  // block may be at the next barrier before another has passed this one; none can be further on.
  std::array<std::vector<knowledge>, 2> at_grid_barrier_;
  bool orders_sc_fences_ = false;
  known at_sc_fences_;  // what those of device scope have known
  std::unordered_map<std::uint32_t, known> at_sc_fences_of_block_;  // and those of any scope
  // The floors of all barriers of each block: also of those that are done.
  std::unordered_map<std::uint32_t, std::vector<epoch>> barriers_;
};

}  // namespace racecheck
