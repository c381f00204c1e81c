// SPDX-License-Identifier: MIT
#include "racecheck/launch_clocks.hpp"

#include <cstdio>
#include <cstdlib>

namespace racecheck {
namespace {

// Of the epochs that there are, a launch may need up to half, and starts where that many are left.
constexpr epoch most_epochs_of_launch = epoch{1} << (epoch_bits - 1);

}  // namespace

bool launch_clocks::begin_launch() {
  noted_.clear();
  arrived_.clear();
  costly_ = 0;
  has_too_many_ = false;
  done_ = 0;
  blocks_.clear();
  messages_.clear();
  const bool starts_over = strict_.last_epoch() >= most_epochs_of_launch;
  strict_.begin_launch(starts_over ? 1 : strict_.last_epoch() + 1);
  return starts_over;
}

void launch_clocks::note(const noted& what) {
  if (strict_.last_epoch() - strict_.launch_start() >= most_epochs_of_launch - 1) [[unlikely]] {
    std::fputs("racecheck: one launch has more than 2^31 barriers, fences and atomics\n", stderr);
    std::exit(1);
  }
  if (has_too_many_) return;
  costly_ += what.what != kind::begin_block && what.what != kind::barrier;
  noted_.push_back(what);
  has_too_many_ = costly_ > most_costly || noted_.size() == most_noted;
}

void launch_clocks::begin_block(block_state& block, std::uint32_t number, unsigned threads) {
  note({.what = kind::begin_block, .block = number, .rank = threads});
  strict_.begin_block(block, number, threads);
}

void launch_clocks::fence(block_state& block, thread_state& by, scope within,
                          bool sequentially_consistent) {
  note({.what = kind::fence,
        .within = within,
        .orders = sequentially_consistent,
        .block = block.number,
        .rank = by.name.rank});
  strict_.fence(block, by, within, sequentially_consistent);
}

void launch_clocks::strong_read(block_state& block, thread_state& by, message& at, scope within,
                                bool acquires, bool updates) {
  note({.what = kind::strong_read,
        .within = within,
        .orders = acquires,
        .updates = updates,
        .block = block.number,
        .rank = by.name.rank,
        .location = at.location});
  strict_.strong_read(block, by, at, within, acquires, updates);
}

void launch_clocks::strong_write(block_state& block, thread_state& by, message& at, scope within,
                                 bool releases, bool updates) {
  note({.what = kind::strong_write,
        .within = within,
        .orders = releases,
        .updates = updates,
        .block = block.number,
        .rank = by.name.rank,
        .location = at.location});
  strict_.strong_write(block, by, at, within, releases, updates);
}

void launch_clocks::weak_write(const thread_state& by, message& at) {
  note({.what = kind::weak_write,
        .block = by.name.block,
        .rank = by.name.rank,
        .location = at.location});
  strict_.weak_write(by, at);
}

void launch_clocks::barrier(block_state& block) {
  std::uint32_t who = all_threads;
  if (block.arrived.size() != block.threads.size() && !has_too_many_) {
    who = static_cast<std::uint32_t>(arrived_.size());
    arrived_.push_back(block.arrived);
  }
  note({.what = kind::barrier, .block = block.number, .location = who});
  strict_.barrier(block);
}

void launch_clocks::warp_barrier(block_state& block, unsigned first_rank, unsigned lanes) {
  note({.what = kind::warp_barrier, .block = block.number, .rank = first_rank, .lanes = lanes});
  strict_.warp_barrier(block, first_rank, lanes);
}

void launch_clocks::grid_barrier_arrives(block_state& block, thread_state& by) {
  note({.what = kind::grid_barrier_arrives, .block = block.number, .rank = by.name.rank});
  strict_.grid_barrier_arrives(block, by);
}

void launch_clocks::grid_barrier_passes(block_state& block, thread_state& by) {
  note({.what = kind::grid_barrier_passes, .block = block.number, .rank = by.name.rank});
  strict_.grid_barrier_passes(block, by);
}

// ---- The other worlds

void launch_clocks::catch_up() {
  if (done_ == 0) others_.begin_launch(strict_.launch_start());
  for (; done_ < noted_.size(); ++done_) happen(noted_[done_]);
}

void launch_clocks::happen(const noted& what) {
  block_state& block = blocks_[what.block];
  if (what.what == kind::begin_block) {
    others_.begin_block(block, what.block, what.rank);
    return;
  }
  thread_state& by = block.threads[what.rank];
  const auto memory = [&]() -> message& {
    message& at = messages_[what.location];
    at.location = what.location;
    return at;
  };
  switch (what.what) {
    case kind::begin_block:
      break;
    case kind::fence:
      others_.fence(block, by, what.within, what.orders);
      break;
    case kind::strong_read:
      others_.strong_read(block, by, memory(), what.within, what.orders, what.updates);
      break;
    case kind::strong_write:
      others_.strong_write(block, by, memory(), what.within, what.orders, what.updates);
      break;
    case kind::weak_write:
      others_.weak_write(by, memory());
      break;
    case kind::barrier:
      block.arrived.clear();
      if (what.location == all_threads) {
        for (const thread_state& each : block.threads) block.arrived.push_back(each.name.rank);
      } else {
        block.arrived = arrived_[what.location];
      }
      others_.barrier(block);
      break;
    case kind::warp_barrier:
      others_.warp_barrier(block, what.rank, what.lanes);
      break;
    case kind::grid_barrier_arrives:
      others_.grid_barrier_arrives(block, by);
      break;
    case kind::grid_barrier_passes:
      others_.grid_barrier_passes(block, by);
      break;
  }
}

bool launch_clocks::before_in(unsigned world, const block_state& block, const thread_state& by,
                              thread_name thread, epoch at) {
  if (world == 0) return strict_.before_in(0, block, by, thread, at);
  if (has_too_many_) return false;
  catch_up();
  const block_state& here = blocks_[block.number];
  return others_.before_in(world - 1, here, here.threads[by.name.rank], thread, at);
}

}  // namespace racecheck
