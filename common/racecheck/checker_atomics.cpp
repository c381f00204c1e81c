// SPDX-License-Identifier: MIT
// Atomics and volatile accesses: what they carry from thread to thread, and the race test for them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "racecheck/checker.hpp"

namespace racecheck {
namespace {

constexpr unsigned number_of(scope within) { return within == scope::device ? 0 : 1; }

}  // namespace

// For the race test a volatile access is like any other. But it can carry synchronisation, as a
// relaxed atomic of the whole system.
bool checker::volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                              site_number site, bool stores) {
  const operation what = stores ? operation::write : operation::read;
  region* in = memory_.find(address);
  if (!in) {
    outside_any_region(by, address, bytes, plain_accesses.place_of(site), what);
    return false;
  }
  ++accesses_;
  const auto left = in->bytes - static_cast<std::size_t>(address - in->begin);
  if (bytes > left) {
    outside(by, address, bytes, plain_accesses.place_of(site), what);
    bytes = left;
  }
  check_cells(by, {&by, address, in, bytes, site, stores}, cell_record::is_volatile);
  const access_shape shape(bytes, offset_in_cell(address));
  const object_number at = make_location(*in, in->cell_at(address), shape);
  const cell_record made(cell_record::stamp_of(by), site, cell_record::is_volatile);
  use_message(at, shape, [&](message& carries) {
    if (stores) {
      clocks_.strong_write(block_->clocks, by, carries, scope::device, false, false);
    } else {
      clocks_.strong_read(block_->clocks, by, carries, scope::device, false, false);
    }
  });
  if (stores && locations_[at].shape == shape) locations_[at].last = made;
  return stores;
}

object_number checker::make_location(region& in, cell& of, access_shape shape) {
  forget_earlier_launch(of);
  if (const object_number known = location_of(of)) return known;
  const object_number made = locations_.add();
  if (locations_.index_of(made) >> (32 - access_shape::bits) != 0) {
    std::fputs("racecheck: one launch uses more than 2^28 words by atomics\n", stderr);
    std::exit(1);
  }
  in.has_marked_cells = true;
  location& at = locations_[made];
  at.shape = shape;
  at.weak_write = of.write;
  at.weak_write.unmark(cell::written_bytes | cell::is_split);
  of.write =
      cell_record::of_number(made, of.write.marks() & (cell::written_bytes | cell::is_split));
  of.write.mark(cell::has_location);
  return made;
}

location_extension& checker::extension_of(location& of) {
  if (of.extension == 0) of.extension = extensions_.add();
  return extensions_[of.extension];
}

location_details& checker::details_of(location& of) {
  object_number& number = extension_of(of).details;
  if (number == 0) number = details_.add();
  return details_[number];
}

location_details* checker::find_details(const location& of) {
  if (of.extension == 0) return nullptr;
  const object_number number = extensions_[of.extension].details;
  return number == 0 ? nullptr : &details_[number];
}

std::uint32_t checker::message_number(object_number at, access_shape shape) const {
  return locations_.index_of(at) << access_shape::bits | shape.code();
}

// The usual message has all of its parts in its location.
template <class Use>
void checker::use_message(object_number number, access_shape shape, Use use) {
  location& at = locations_[number];
  if (shape != at.shape) {
    at.has_two_shapes = true;
    auto& others = details_of(at).messages;
    auto found = std::find_if(others.begin(), others.end(),
                              [&](const auto& each) { return each.first == shape; });
    if (found == others.end()) {
      found = others.emplace(found, shape, message{});
      found->second.location = message_number(number, shape);
    }
    use(found->second);
    return;
  }
  message carries;
  carries.location = message_number(number, shape);
  carries.chain = at.chain;
  carries.position = at.position;
  carries.written = at.chain != 0;
  if (carries.written) {
    carries.strong = at.last.marks() != 0;
    carries.within = at.last.has(cell_record::is_atomic) ? at.last.within() : scope::device;
    carries.writer = {clocks_.block_of(at.last.at()), at.last.rank()};
  }
  if (location_details* more = find_details(at)) carries.in = std::move(more->handed_over);
  use(carries);
  at.chain = carries.chain;
  at.position = carries.position;
  if (carries.in) details_of(at).handed_over = std::move(carries.in);
}

// What has to be seen to have seen the last strong write of a location. Of an atomic that takes
// several cells the first one's location knows.
observation checker::last_seen(const access& now, const location& at) const {
  const std::size_t bytes = std::max(at.shape.bytes(), bytes_of_cell);
  const std::byte* const first =
      now.address - reinterpret_cast<std::uintptr_t>(now.address) % bytes;
  return {message_number(location_of(now.in.cell_at(first)), at.shape), at.chain, at.position};
}

bool checker::is_morally_strong(const thread_state& by, cell_record made, cell_record other) const {
  if (!made.has(cell_record::is_atomic) || !other.has(cell_record::is_atomic)) return false;
  if (made.shape() != other.shape()) return false;
  return (made.within() == scope::device && other.within() == scope::device) ||
         clocks_.block_of(other.at()) == by.name.block;
}

void checker::check_strong_writes(thread_state& by, const access& now, const location& at,
                                  operation what) {
  const known& knows = clocks_.strict_knowledge(block_->clocks, by).now;
  const auto check = [&](const strong_record& each) {
    if (!(each.done.shape().mask() & now.mask) || is_morally_strong(by, now.made, each.done) ||
        before(by, each.done) || knows.observed.has_observed(each.seen)) {
      return;
    }
    race(by, now, describe(each.done, operation::atomic_update), each.done.at(),
         describe(now.made, what));
  };
  if (at.last.has(cell_record::is_atomic)) check({at.last, last_seen(now, at)});
  if (at.extension == 0) return;
  const location_extension& extension = extensions_[at.extension];
  if (extension.last_of_another_block.has(cell_record::is_atomic)) {
    check(extension.of_another_block(last_seen(now, at)));
  }
  if (extension.details == 0) return;
  const location_details& more = details_[extension.details];
  // Two atomics of one shape at device scope never race, nor do two of one block.
  const bool of_one_shape =
      now.made.has(cell_record::is_atomic) && !at.has_two_shapes && now.made.shape() == at.shape;
  if (!of_one_shape || now.made.within() != scope::device) {
    for (const auto& [key, each] : more.earlier[number_of(scope::device)]) check(each);
  }
  if (!of_one_shape || more.has_two_blocks || more.block != by.name.block) {
    for (const auto& [key, each] : more.earlier[number_of(scope::block)]) check(each);
  }
}

// `before`: what the location's last write was before.
void checker::keep_strong_write(location& at, const strong_record& before,
                                const strong_record& made) {
  if (made.done.shape() != at.shape) {
    at.has_two_shapes = true;
    keep_besides(at, made);
    return;
  }
  if (before.done.has(cell_record::is_atomic)) {
    const bool same_scope = before.done.within() == made.done.within();
    const bool same_block = clocks_.block_of(before.done.at()) == clocks_.block_of(made.done.at());
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
void checker::keep_besides(location& at, const strong_record& last) {
  location_details& more = details_of(at);
  const auto keep = [&](const strong_record& kept) {
    const thread_name thread{clocks_.block_of(kept.done.at()), kept.done.rank()};
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

void checker::forget_last_of_another_block(location& at) {
  if (at.extension != 0) extensions_[at.extension].last_of_another_block = {};
}

// A plain write of all bytes that an atomic wrote takes its place.
void checker::forget_strong_writes(const access& now, location& at) {
  const auto is_covered = [&](cell_record done) { return !(done.shape().mask() & ~now.mask); };
  if (at.last.has(cell_record::is_atomic) && !is_covered(at.last)) {
    keep_besides(at, {at.last, last_seen(now, at)});
  }
  forget_last_of_another_block(at);
  if (location_details* more = find_details(at)) {
    for (strong_records& each : more->earlier) {
      std::erase_if(each, [&](const auto& record) { return is_covered(record.second.done); });
    }
  }
}

// A plain or volatile access of a cell that atomics have used.
void checker::use_atomics(thread_state& by, const access& now, bool writes) {
  const operation what = writes ? operation::write : operation::read;
  const object_number number = location_of(now.checked);
  location& at = locations_[number];
  check_strong_writes(by, now, at, what);
  if (!writes) return;
  // The atomic reads of a split cell are not among those of its bytes.
  if (now.checked.write.has(cell::is_split)) {
    check_reads(by, now, now.checked.read, what);
    if (now.mask == whole_cell) drop_reads(now.checked.read);
  }
  forget_strong_writes(now, at);
  if (location_details* more = find_details(at)) {
    for (auto& [shape, carries] : more->messages) {
      clocks_.weak_write(block_->clocks, by, carries);
    }
  }
  use_message(number, at.shape,
              [&](message& carries) { clocks_.weak_write(block_->clocks, by, carries); });
  at.last = cell_record(cell_record::stamp_of(by), now.made.site(), 0);
}

void checker::atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                          place_number place) {
  region* in = memory_.find(done.address);
  const bool reads = done.kind != cpu_backend::observer::access::store;
  const bool stores = done.kind != cpu_backend::observer::access::load;
  const operation what = !stores  ? operation::atomic_load
                         : !reads ? operation::atomic_store
                                  : operation::atomic_update;
  if (!in) {
    outside_any_region(by, done.address, done.bytes, place, what);
    return;
  }
  ++accesses_;
  if (reads && in->starts_unwritten) check_written(by, *in, done.address, done.bytes, place);
  if (!block_->seen) block_->seen = &witnesses_[by.name.block];
  if (stores) block_->seen->released = {true, by.name.rank, place};
  if (reads) block_->seen->acquired = {true, by.name.rank, place};

  const access_shape shape(done.bytes, offset_in_cell(done.address));
  const cell_record made(cell_record::stamp_of(by), plain_accesses.number_of(place),
                         cell_record::marks_of_atomic(shape, done.within));
  // What the operation carries is the first cell's.
  const object_number first = make_location(*in, in->cell_at(done.address), shape);
  const auto read_now = [&] {
    use_message(first, shape, [&](const message& carries) {
      clocks_.strong_read(block_->clocks, by, carries, done.within, done.acquires, stores);
    });
  };
  // An operation that acquires, or that reads and writes as one, is itself after what it has seen.
  const bool is_after_what_it_reads = done.acquires || stores;
  if (reads && is_after_what_it_reads) read_now();

  observation written;
  const std::byte* const end = done.address + done.bytes;
  for (const std::byte* address = done.address; address < end;) {
    cell& whole = in->cell_at(address);
    const object_number number = make_location(*in, whole, shape);
    location& at = locations_[number];
    const access now{*in, whole, address, made, shape.mask()};
    const auto check_weak = [&](cell_record write, cell_record read) {
      if (!before(by, write)) {
        race(by, now, describe(write, operation::write), write.at(), describe(made, what));
      }
      if (stores) check_reads(by, now, read, what);
    };
    if (whole.write.has(cell::is_split) || now.mask != whole_cell) {
      const split_cell& bytes = split(*in, whole);
      for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
        if (!(now.mask >> byte & 1)) continue;
        const cell one = bytes_cell(bytes, byte);
        check_weak(one.write, one.read);
      }
      if (stores) check_reads(by, now, whole.read, what);
    } else {
      check_weak(weak_write_of(whole), whole.read);
    }
    check_strong_writes(by, now, at, what);

    const strong_record before{at.last, last_seen(now, at)};
    if (number == first) {
      if (reads && !is_after_what_it_reads) read_now();
      if (stores) {
        use_message(first, shape, [&](message& carries) {
          clocks_.strong_write(block_->clocks, by, carries, done.within, done.releases, reads);
          written = carries.last_write();
        });
      }
    }
    if (stores) {
      whole.write.mark(now.mask);
      keep_strong_write(at, before, {made, written});
    } else {
      keep_read(by, *in, made, whole.read);
    }
    address += bytes_of_cell - offset_in_cell(address);
  }
}

}  // namespace racecheck
