// SPDX-License-Identifier: MIT
#include "racecheck/order/launch_clocks.hpp"

#include <cstdio>
#include <cstdlib>

namespace racecheck {
namespace {

// A launch may need up to half of the epochs that there are, and starts where that many are left.
constexpr epoch most_epochs_of_launch = epoch{1} << (epoch_bits - 1);

}  // namespace

bool launch_clocks::begin_launch() {
  noted_.clear();
  arrived_.clear();
  costly_ = 0;
  has_too_many_ = !diagnoses_;
  done_ = 0;
  blocks_.clear();
  messages_.clear();
  const bool starts_over = actual_.last_epoch() >= most_epochs_of_launch;
  actual_.begin_launch(starts_over ? 1 : actual_.last_epoch() + 1);
  return starts_over;
}

// ---- Works

void launch_clocks::note_work(noted_work begun, bool begins_group) {
  begun.first_epoch = begins_group ? launch_start() : actual_.last_epoch() + 1;
  const cpu_backend::work given = begun.given;
  works_.add(std::move(begun), begins_group);
  work_goes_on(given);
}

bool launch_clocks::earlier_work_is_before(const block_state& block, epoch at) const {
  const noted_work* const earlier = work_of(at);
  const noted_work* const later = works_.of_block(block.number);
  return !earlier || !later || later->given.after.covers(earlier->given.is);
}

bool launch_clocks::is_of_work_before(const block_state& block, const thread_state& by,
                                      thread_name thread) const {
  const noted_work* const earlier = works_.of_block(thread.block);
  const noted_work* const later = works_.of_block(block.number);
  if (!earlier || !later || earlier == later) return false;
  return works_.is_before(*earlier, *later, actual_knowledge(block, by).happened_before.order);
}

launch_clocks::two_works launch_clocks::works_of(const thread_state& by, epoch earlier) const {
  if (works_.empty()) return {};
  return {work_of(earlier), works_.of_block(by.name.block)};
}

void launch_clocks::keep_earlier_messages() {
  if (!actual_.orders_sc_fences()) {
    orders_of_fences_ = 2;
    actual_ = synchronization(without_repairs_);
    actual_.order_sc_fences();
  }
  actual_.keep_earlier_messages();
  assumed_.keep_earlier_messages();
}

void launch_clocks::note(const block_state& block, const noted& what) {
  if (actual_.last_epoch() - actual_.launch_start() >= most_epochs_of_launch - 1) [[unlikely]] {
    std::fputs("racecheck: one launch has more than 2^31 barriers, fences and atomics\n", stderr);
    std::exit(1);
  }
  ++operations_;
  if (has_too_many_) return;
  if (noted_.empty() || block.number != noted_block_) {
    noted_.push_back({.what = kind::block_runs, .with = block.number});
    noted_block_ = block.number;
  }
  noted_.push_back(what);
  costly_ +=
      what.what != kind::begin_block && what.what != kind::end_block && what.what != kind::barrier;
  has_too_many_ = costly_ > most_costly || noted_.size() >= most_noted;
}

// The reading half of the read-modify-write whose other half comes now.
launch_clocks::noted* launch_clocks::begun_update() {
  if (has_too_many_ || done_ == noted_.size()) return nullptr;
  noted& last = noted_.back();
  return last.what == kind::strong_read && last.updates ? &last : nullptr;
}

void launch_clocks::begin_block(block_state& block, std::uint32_t number, unsigned threads,
                                bool goes_on) {
  const std::uint32_t before = goes_on ? block.number : number;
  actual_.begin_block(block, number, threads, goes_on);
  note(block, {.what = kind::begin_block, .rank = threads, .with = before});
}

void launch_clocks::end_block(const block_state& block) { note(block, {.what = kind::end_block}); }

void launch_clocks::fence(block_state& block, thread_state& by, scope within,
                          fence_kind kind_of_fence) {
  note(block, {.what = kind::fence,
               .at_block_scope = within == scope::block,
               .fence = static_cast<unsigned>(kind_of_fence),
               .rank = by.name.rank});
  actual_.fence(block, by, within, kind_of_fence);
}

void launch_clocks::strong_read(block_state& block, thread_state& by, const message& at,
                                scope within, bool acquires, bool updates, unsigned older) {
  note(block, {.what = kind::strong_read,
               .at_block_scope = within == scope::block,
               .acquires = acquires,
               .updates = updates,
               .older = older,
               .rank = by.name.rank,
               .with = at.location});
  actual_.strong_read(block, by, at, within, acquires, updates, older);
}

void launch_clocks::strong_write(block_state& block, thread_state& by, message& at, scope within,
                                 bool releases, bool updates) {
  if (noted* read = updates ? begun_update() : nullptr) {
    read->what = kind::strong_update;
    read->releases = releases;
  } else {
    note(block, {.what = kind::strong_write,
                 .at_block_scope = within == scope::block,
                 .releases = releases,
                 .updates = updates,
                 .rank = by.name.rank,
                 .with = at.location});
  }
  actual_.strong_write(block, by, at, within, releases, updates);
}

void launch_clocks::weak_write(const block_state& block, const thread_state& by, message& at) {
  note(block, {.what = kind::weak_write, .rank = by.name.rank, .with = at.location});
  actual_.weak_write(by, at);
}

void launch_clocks::barrier(block_state& block) {
  std::uint32_t who = all_threads;
  if (block.arrived.size() != block.threads.size() && !has_too_many_) {
    who = static_cast<std::uint32_t>(arrived_.size());
    arrived_.push_back(block.arrived);
  }
  note(block, {.what = kind::barrier, .with = who});
  actual_.barrier(block);
}

void launch_clocks::warp_barrier(block_state& block, unsigned first_rank, unsigned lanes) {
  note(block, {.what = kind::warp_barrier, .rank = first_rank, .with = lanes});
  actual_.warp_barrier(block, first_rank, lanes);
}

void launch_clocks::grid_barrier_arrives(block_state& block, thread_state& by) {
  note(block, {.what = kind::grid_barrier_arrives, .rank = by.name.rank});
  actual_.grid_barrier_arrives(block, by);
}

void launch_clocks::grid_barrier_passes(block_state& block, thread_state& by) {
  note(block, {.what = kind::grid_barrier_passes, .rank = by.name.rank});
  actual_.grid_barrier_passes(block, by);
}

// ---- Under assumptions

void launch_clocks::catch_up() {
  if (done_ == 0) assumed_.begin_launch(actual_.launch_start());
  for (; done_ < noted_.size(); ++done_) happen(noted_[done_]);
}

void launch_clocks::happen(const noted& what) {
  if (what.what == kind::block_runs) {
    done_block_ = what.with;
    return;
  }
  if (what.what == kind::end_block) {
    blocks_.erase(done_block_);
    return;
  }
  block_state& block = blocks_[done_block_];
  if (what.what == kind::begin_block) {
    const bool goes_on = what.with != done_block_;
    if (goes_on) {
      block = std::move(blocks_[what.with]);
      blocks_.erase(what.with);
    }
    assumed_.begin_block(block, done_block_, what.rank, goes_on);
    return;
  }
  thread_state& by = block.threads[what.rank];
  const scope within = what.at_block_scope ? scope::block : scope::device;
  const auto memory = [&]() -> message& {
    message& at = messages_[what.with];
    at.location = what.with;
    return at;
  };
  switch (what.what) {
    case kind::block_runs:
    case kind::begin_block:
    case kind::end_block:
      break;
    case kind::fence:
      assumed_.fence(block, by, within, static_cast<fence_kind>(what.fence));
      break;
    case kind::strong_read:
      assumed_.strong_read(block, by, memory(), within, what.acquires, what.updates, what.older);
      break;
    case kind::strong_write:
      assumed_.strong_write(block, by, memory(), within, what.releases, what.updates);
      break;
    case kind::strong_update:
      assumed_.strong_read(block, by, memory(), within, what.acquires, true);
      assumed_.strong_write(block, by, memory(), within, what.releases, true);
      break;
    case kind::weak_write:
      assumed_.weak_write(by, memory());
      break;
    case kind::barrier:
      block.arrived.clear();
      if (what.with == all_threads) {
        for (const thread_state& each : block.threads) block.arrived.push_back(each.name.rank);
      } else {
        block.arrived = arrived_[what.with];
      }
      assumed_.barrier(block);
      break;
    case kind::warp_barrier:
      assumed_.warp_barrier(block, what.rank, what.with);
      break;
    case kind::grid_barrier_arrives:
      assumed_.grid_barrier_arrives(block, by);
      break;
    case kind::grid_barrier_passes:
      assumed_.grid_barrier_passes(block, by);
      break;
  }
}

bool launch_clocks::before_under(unsigned assumption, const block_state& block,
                                 const thread_state& by, thread_name thread, epoch at) {
  if (assumption == 0) return actual_.before_under(0, block, by, thread, at);
  if (has_too_many_) return false;
  catch_up();
  const block_state& here = blocks_[block.number];
  return assumed_.before_under(assumption - 1, here, here.threads[by.name.rank], thread, at);
}

bool launch_clocks::before_any_under(unsigned assumption, const block_state& block,
                                     thread_name thread, epoch at) {
  if (assumption == 0) return actual_.before_any_under(0, block, thread, at);
  if (has_too_many_) return false;
  catch_up();
  return assumed_.before_any_under(assumption - 1, blocks_[block.number], thread, at);
}

}  // namespace racecheck
