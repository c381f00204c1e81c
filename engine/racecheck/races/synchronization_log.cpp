// SPDX-License-Identifier: MIT
#include "racecheck/races/synchronization_log.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace racecheck {

// Shared memory of all blocks may have the same addresses.
std::uint32_t synchronization_log::location_of(const region& in, const std::byte* address,
                                               std::uint32_t block) {
  const auto number =
      static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address) / bytes_of_cell);
  const std::uint32_t of_block = in.is_shared_memory() ? (block + 1) * 0x9e3779b1u : 0;
  return std::max(number ^ of_block, 1u);
}

void synchronization_log::note(const event& what) {
  if (events_.size() < most_events) events_.push_back(what);
}

void synchronization_log::note_atomic(const thread_state& by, const region& in,
                                      const cpu_backend::observer::atomic_operation& done,
                                      place_number place, unsigned passed) {
  using cpu_backend::observer::access;
  note({.epoch_since_start = since_start(by.current_epoch),
        .where = location_of(in, done.address, by.name.block),
        .place = place,
        .rank = by.name.rank,
        .passed = passed,
        .reads = done.kind != access::store,
        .writes = done.kind != access::load,
        .acquires = done.acquires,
        .releases = done.releases,
        .at_block_scope = done.within == scope::block});
}

void synchronization_log::note_passed(unsigned passed) {
  constexpr unsigned most = 15;
  if (is_whole()) events_.back().passed = std::min(passed, most) & most;
}

void synchronization_log::note_volatile(const thread_state& by, const region& in,
                                        const std::byte* address, bool writes, place_number place,
                                        unsigned passed) {
  note({.epoch_since_start = since_start(by.current_epoch),
        .where = location_of(in, address, by.name.block),
        .place = place,
        .rank = by.name.rank,
        .passed = passed,
        .reads = !writes,
        .writes = writes,
        .is_volatile = true});
}

void synchronization_log::note_plain_write(const thread_state& by, const region& in,
                                           const std::byte* address) {
  note({.epoch_since_start = since_start(by.current_epoch),
        .where = location_of(in, address, by.name.block),
        .rank = by.name.rank,
        .what = kind::plain_write});
}

void synchronization_log::note_fence(const thread_state& by, scope within, fence_kind order,
                                     place_number place) {
  note({.epoch_since_start = since_start(by.current_epoch),
        .place = place,
        .rank = by.name.rank,
        .what = kind::fence,
        .reads = order != fence_kind::release,
        .writes = order != fence_kind::acquire,
        .acquires = order == fence_kind::sequentially_consistent,
        .at_block_scope = within == scope::block});
}

void synchronization_log::note_barrier(const block_state& of, place_number place) {
  note({.epoch_since_start = since_start(of.floor + 1), .place = place, .what = kind::barrier});
}

void synchronization_log::note_warp_barrier(const block_state& of, unsigned first_rank,
                                            unsigned lanes, place_number place) {
  const thread_state& first = of.threads[first_rank + std::countr_zero(lanes)];
  note({.epoch_since_start = since_start(first.current_epoch),
        .where = lanes,
        .place = place,
        .rank = first_rank,
        .what = kind::warp_barrier});
}

bool synchronization_log::event::joins(std::uint32_t one_rank, std::uint32_t other_rank) const {
  constexpr std::uint32_t warp_size = 32;
  const auto has = [&](std::uint32_t each) {
    return each - rank < warp_size && (where >> (each - rank) & 1);
  };
  return what == kind::barrier || (what == kind::warp_barrier && has(one_rank) && has(other_rank));
}

template <class Is>
std::optional<chain_step> synchronization_log::find_last(Is is) const {
  if (!is_whole()) return std::nullopt;
  const auto found = std::find_if(events_.rbegin(), events_.rend(), is);
  return found == events_.rend() ? std::nullopt : std::optional(step_of(*found, false));
}

std::optional<synchronization_log::held> synchronization_log::find_held(thread_name thread,
                                                                        epoch at) const {
  std::set<std::uint32_t> written;
  std::uint32_t where = 0;
  const auto taken = find_last([&, before = since_start(at)](const event& each) {
    // What a thread does after a write is in a later epoch.
    const bool is_own_write =
        each.rank == thread.rank && each.epoch_since_start < before &&
        (each.what == kind::plain_write || (each.what == kind::atomic && each.writes)) &&
        block_of(each) == thread.block;
    where = each.where;
    return is_own_write && written.insert(each.where).second && each.what == kind::atomic &&
           each.reads;
  });
  return taken ? std::optional(held{*taken, where}) : std::nullopt;
}

std::optional<chain_step> synchronization_log::find_older_load(thread_name thread, epoch at) const {
  std::set<std::uint32_t> read;
  return find_last([&, before = since_start(at)](const event& each) {
    // What a thread does after it got an older value is in a later epoch.
    const bool is_own_read = each.what == kind::atomic && each.reads && each.rank == thread.rank &&
                             each.epoch_since_start + (each.passed != 0) <= before &&
                             block_of(each) == thread.block;
    return is_own_read && read.insert(each.where).second && each.passed != 0;
  });
}

std::optional<chain_step> synchronization_log::find_common_barrier(thread_name one, epoch at,
                                                                   thread_name other) const {
  return find_last([&, before = since_start(at)](const event& each) {
    return each.epoch_since_start <= before && each.joins(one.rank, other.rank) &&
           block_of(each) == one.block;
  });
}

chain_step synchronization_log::step_of(const event& of, bool in_observers_block) {
  chain_step step;
  step.what = of.what == kind::fence          ? chain_step::kind::fence
              : of.what == kind::barrier      ? chain_step::kind::barrier
              : of.what == kind::warp_barrier ? chain_step::kind::warp_barrier
                                              : chain_step::kind::atomic;
  if (of.is_volatile) {
    step.does = of.writes ? operation::write : operation::read;
  } else {
    step.does = of.reads && of.writes ? operation::atomic_update
                : of.writes           ? operation::atomic_store
                                      : operation::atomic_load;
  }
  step.is_volatile = of.is_volatile;
  step.within = of.at_block_scope ? scope::block : scope::device;
  step.in_observers_block = in_observers_block;
  step.rank = of.rank;
  step.place = of.place;
  return step;
}

}  // namespace racecheck
