// SPDX-License-Identifier: MIT
#include "racecheck/memory/atomic_locations.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace racecheck {

bool atomic_locations::begin_launch() {
  const bool start_over[] = {locations_.begin_launch(), extensions_.begin_launch(),
                             details_.begin_launch()};
  return start_over[0] || start_over[1] || start_over[2];
}

object_number atomic_locations::add(access_shape shape, cell_record weak_write) {
  const object_number made = locations_.add();
  if (locations_.index_of(made) >> (32 - access_shape::bits) != 0) {
    std::fputs("racecheck: one launch uses more than 2^28 words by atomics\n", stderr);
    std::exit(1);
  }
  location& at = locations_[made];
  at.shape = shape;
  at.weak_write = weak_write;
  return made;
}

void atomic_locations::remove(object_number number) {
  if (const object_number extension = locations_[number].extension) {
    if (extensions_[extension].details != 0) details_.remove(extensions_[extension].details);
    extensions_.remove(extension);
  }
  locations_.remove(number);
}

location_extension& atomic_locations::extension_of(location& of) {
  if (of.extension == 0) of.extension = extensions_.add();
  return extensions_[of.extension];
}

location_details& atomic_locations::details_of(location& of) {
  object_number& number = extension_of(of).details;
  if (number == 0) number = details_.add();
  return details_[number];
}

message& atomic_locations::message_of_other_shape(object_number number, access_shape shape) {
  location& at = locations_[number];
  at.has_two_shapes = true;
  auto& others = details_of(at).messages;
  auto found = std::find_if(others.begin(), others.end(),
                            [&](const auto& each) { return each.first == shape; });
  if (found == others.end()) {
    found = others.emplace(found, shape, message{});
    found->second.location = message_number(number, shape);
  }
  return found->second;
}

void atomic_locations::keep_write(location& at, const strong_record& before,
                                  const strong_record& made) {
  if (made.done.shape() != at.shape) {
    at.has_two_shapes = true;
    keep_besides(at, made);
    return;
  }
  if (before.done.has(cell_record::is_atomic)) {
    const bool same_scope = before.done.within() == made.done.within();
    const bool same_block =
        clocks_.block_of(before.done.access_epoch()) == clocks_.block_of(made.done.access_epoch());
    if (!same_scope || before.seen.chain != made.seen.chain) {
      // A thread's store stands for its earlier ones, and for what these had seen.
      const bool same_thread = same_block && before.done.rank() == made.done.rank();
      if (!same_scope || !same_thread) keep_besides(at, before);
      forget_last_of_another_block(at);
    } else if (!same_block) {
      location_extension& extension = extension_of(at);
      extension.last_of_another_block = before.done;
      extension.position = before.seen.position;
    }
  }
  at.last = made.done;
  at.chain = made.seen.chain;
  at.position = made.seen.position;
}

// The location's chain, which ends with `last`, is not the last one any more.
void atomic_locations::keep_besides(location& at, const strong_record& last) {
  location_details& more = details_of(at);
  const auto keep = [&](const strong_record& kept) {
    const thread_name thread{clocks_.block_of(kept.done.access_epoch()), kept.done.rank()};
    strong_records& all = more.earlier[number_of(kept.done.within())];
    if (kept.done.within() == scope::block) {
      if (all.empty()) {
        more.block = thread.block;
        more.has_two_blocks = false;
      }
      more.has_two_blocks |= more.block != thread.block;
    }
    all.insert_or_assign(thread.key() << access_shape::bits | kept.done.shape().code(), kept);
  };
  keep(last);
  const location_extension& extension = extensions_[at.extension];
  if (last.done.shape() == at.shape &&
      extension.last_of_another_block.has(cell_record::is_atomic)) {
    keep(extension.of_another_block(last.seen));
  }
}

void atomic_locations::forget_writes(location& at, observation seen, unsigned mask) {
  const auto is_covered = [&](cell_record done) { return !(done.shape().mask() & ~mask); };
  if (at.last.has(cell_record::is_atomic) && !is_covered(at.last)) {
    keep_besides(at, {at.last, seen});
  }
  forget_last_of_another_block(at);
  if (location_details* more = find_details(at)) {
    for (strong_records& each : more->earlier) {
      std::erase_if(each, [&](const auto& record) { return is_covered(record.second.done); });
    }
  }
}

}  // namespace racecheck
