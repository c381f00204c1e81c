// SPDX-License-Identifier: MIT
#include "racecheck/races/conflict_check.hpp"

#include <bit>
#include <cstdint>

#include "racecheck/events/sites.hpp"

namespace racecheck {

bool conflict_check::is_morally_strong(const thread_state& by, cell_record made,
                                       cell_record other) const {
  if (!made.has(cell_record::is_atomic) || !other.has(cell_record::is_atomic)) return false;
  if (made.shape() != other.shape()) return false;
  return (made.within() == scope::device && other.within() == scope::device) ||
         clocks_.block_of(other.access_epoch()) == by.name.block;
}

void conflict_check::check_reads(const thread_state& by, const cell_access& now, operation what,
                                 cell_record read) {
  const block_state& running = blocks_.running();
  const auto check = [&](cell_record each, std::uint32_t block) {
    const bool is_atomic = each.has(cell_record::is_atomic);
    if (is_atomic && !(each.shape().mask() & now.mask)) return;
    if (is_morally_strong(by, now.record, each)) return;
    if (clocks_.before(running, by, {block, each.rank()}, each.access_epoch())) return;
    findings_.add_race(by, now, what, each, is_atomic ? operation::atomic_load : operation::read);
  };
  if (history_.has_reads(read)) {
    // Threads that wait for a flag have all read it like this.
    const unsigned marks = now.record.marks();
    if (now.record.has(cell_record::is_atomic) && now.record.within() == scope::device &&
        history_.reads().all_have(read.number(), marks)) {
      return;
    }
    history_.reads().each_group(read.number(), [&](const read_group& group) {
      const bool is_behind_barrier =
          running.last_floor.empty() && group.first.access_epoch() <= running.floor;
      if (by.name.block == group.block && is_behind_barrier) return;
      for (std::uint64_t left = group.ranks; left != 0; left &= left - 1) {
        const auto nth = static_cast<unsigned>(std::countr_zero(left));
        check(group.first.with_rank(group.first.rank() + nth), group.block);
      }
    });
  } else if (!read.has(cell::has_reads) && !before(by, read)) {
    check(read, clocks_.block_of(read.access_epoch()));
  }
}

void conflict_check::note_update(const thread_state& by, const cell_access& now, operation what,
                                 cell_record read) {
  const auto note = [&](cell_record own) {
    if (is_atomic(what) && own.has(cell_record::is_atomic)) return;
    findings_.add_plain_update(
        {place_of_site(own.site()), place_of_site(now.record.site()), is_atomic(what)});
  };
  if (history_.has_reads(read)) {
    history_.reads().each_group(read.number(), [&](const read_group& group) {
      const std::uint32_t first = group.first.rank();
      if (group.block == by.name.block && by.name.rank >= first && by.name.rank < first + 64 &&
          group.ranks >> (by.name.rank - first) & 1) {
        note(group.first);
      }
    });
  } else if (!read.has(cell::has_reads) && read.access_epoch() >= clocks_.launch_start() &&
             read.rank() == by.name.rank &&
             clocks_.block_of(read.access_epoch()) == by.name.block) {
    note(read);
  }
}

void conflict_check::check_strong_writes(const thread_state& by, const cell_access& now,
                                         operation what, const location& at) {
  const atomic_locations& locations = history_.locations();
  const known& knows = clocks_.actual_knowledge(blocks_.running(), by).happened_before;
  const auto last_seen = [&] { return locations.last_seen(now.in, now.address, at); };
  const auto check = [&](const strong_record& each) {
    if (!(each.done.shape().mask() & now.mask) || is_morally_strong(by, now.record, each.done) ||
        before(by, each.done) || knows.observed.get().has_observed(each.seen)) {
      return;
    }
    findings_.add_race(by, now, what, each.done, operation::atomic_update);
  };
  if (at.last.has(cell_record::is_atomic)) check({at.last, last_seen()});
  const location_extension* extension = locations.find_extension(at);
  if (!extension) return;
  if (extension->last_of_another_block.has(cell_record::is_atomic)) {
    check(extension->of_another_block(last_seen()));
  }
  const location_details* more = locations.find_details(*extension);
  if (!more) return;
  // Two atomics of one shape at device scope never race, nor do two of one block.
  const bool of_one_shape = now.record.has(cell_record::is_atomic) && !at.has_two_shapes &&
                            now.record.shape() == at.shape;
  if (!of_one_shape || now.record.within() != scope::device) {
    for (const auto& [key, each] : more->earlier[number_of(scope::device)]) check(each);
  }
  if (!of_one_shape || more->has_two_blocks || more->block != by.name.block) {
    for (const auto& [key, each] : more->earlier[number_of(scope::block)]) check(each);
  }
}

}  // namespace racecheck
