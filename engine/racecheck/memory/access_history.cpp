// SPDX-License-Identifier: MIT
#include "racecheck/memory/access_history.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

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

namespace {

// Sets of reads may take this and 12 bytes for each byte of memory: with its cells, which take 4,
// that makes 16.
constexpr std::size_t few_bytes_of_read_sets = std::size_t{64} << 20;
// From launch to launch, as long as the work before need not be done.
constexpr std::size_t most_split_cells = std::size_t{1} << 20;

}  // namespace

bool access_history::begin_launch(std::size_t memory_bytes) {
  const bool all_is_done = clocks_.works().empty();
  const bool forgets_bytes = all_is_done || split_cells_.size() > most_split_cells;
  const bool start_over[] = {read_sets_.begin_launch(few_bytes_of_read_sets + 12 * memory_bytes),
                             locations_.begin_launch(),
                             forgets_bytes && split_cells_.begin_launch(),
                             forgets_bytes && records_of_bytes_.begin_launch()};
  if (all_is_done) {
    first_set_ = read_sets_.first();
    first_location_ = locations_.first();
  }
  return std::find(std::begin(start_over), std::end(start_over), true) != std::end(start_over);
}

cell_record access_history::latest_of(cell_record number, object_number first) const {
  const noted_work* const in =
      number.number() < first ? nullptr : clocks_.works().numbered(number.latest_work());
  return in ? cell_record::of_epoch(in->first_epoch, number.place()) : cell_record();
}

void access_history::forget(cell& of) {
  forget_earlier_launch(of);
  drop_reads(of.read);
  if (of.write.has(cell::is_split)) {
    const object_number number = weak_write_of(of).number();
    const split_cell bytes = split_cells_[number];
    if (bytes.reads != 0) {
      for (cell_record& each : records_of_bytes_[bytes.reads]) drop_reads(each);
      records_of_bytes_.remove(bytes.reads);
    }
    if (bytes.writes != 0) records_of_bytes_.remove(bytes.writes);
    split_cells_.remove(number);
  }
  if (const object_number at = of.location()) locations_.remove(at);
  of.write = {};
}

// `write`: the cell's weak write.
void access_history::begin_split(region& in, cell& whole, cell_record& write) {
  in.has_marked_cells = true;
  const object_number number = split_cells_.add();
  split_cell& bytes = split_cells_[number];
  const auto give_all = [&](object_number& to, cell_record record) {
    to = records_of_bytes_.add();
    records_of_bytes_[to].fill(record);
  };
  if (write.access_epoch() >= clocks_.known_start()) {
    cell_record each = write;
    each.unmark(cell::written_bytes);
    give_all(bytes.writes, each);
  }
  if (has_reads(whole.read)) {
    read_sets_.share(whole.read.number(), bytes_of_cell - 1);
    give_all(bytes.reads, whole.read);
  } else if (!whole.read.has(cell::has_reads) &&
             whole.read.access_epoch() >= clocks_.known_start()) {
    give_all(bytes.reads, whole.read);
  }
  whole.read = {};
  write = cell_record::of_number(number, write.marks() & cell::written_bytes);
  whole.write.mark(cell::is_split);
}

void access_history::set_records_of_byte(split_cell& of, std::size_t byte, const cell& changed,
                                         bool writes) {
  const auto keep = [&](object_number& all, cell_record record) {
    if (all == 0 && record == cell_record{}) return;
    if (all == 0) all = records_of_bytes_.add();
    records_of_bytes_[all][byte] = record;
  };
  keep(of.writes, changed.write);
  keep(of.reads, changed.read);
  if (writes && of.reads != 0 && records_of_bytes_[of.reads] == records_of_bytes{}) {
    records_of_bytes_.remove(of.reads);
    of.reads = 0;
  }
}

void access_history::keep_read(const block_state& block, const thread_state& by, region& in,
                               cell_record made, cell_record& read) {
  const auto is_of_launch = [&] { return read.access_epoch() >= clocks_.launch_start(); };
  // What races with an atomic read races with a plain one as well, but not the other way round.
  const auto may_replace = [&] {
    return (!made.has(cell_record::is_atomic) || made.marks() == read.marks()) &&
           is_before(clocks_, block, by, read);
  };
  const auto add = [&](cell_record to, std::uint32_t block_of_reads) {
    read = read_sets_.add(to, block_of_reads, made, by.name.block);
    if (!read.has(cell::has_reads)) return;
    read = read.with_latest(clocks_.works().number_of(by.name.block), made.place());
  };
  if (has_reads(read)) {
    add(cell::reads_of_set(read.number()), 0);
  } else if (read.has(cell::has_reads) || !is_of_launch() || may_replace()) {
    read = made;
  } else {
    in.has_marked_cells = true;
    add(read, clocks_.block_of(read.access_epoch()));
  }
}

object_number access_history::make_location(region& in, cell& of, access_shape shape) {
  forget_earlier_launch(of);
  if (const object_number known = of.location()) return known;
  in.has_marked_cells = true;
  cell_record weak_write = of.write;
  weak_write.unmark(cell::written_bytes | cell::is_split);
  const object_number made = locations_.add(shape, weak_write);
  of.write =
      cell_record::of_number(made, of.write.marks() & (cell::written_bytes | cell::is_split));
  of.write.mark(cell::has_location);
  return made;
}

cell_record access_history::last_write_of(const cell& of) const {
  if (of.write.has(cell::has_location)) {
    return locations_.has(of.write.number()) ? locations_[of.write.number()].last : cell_record();
  }
  if (!of.write.has(cell::is_split)) return of.write;
  cell_record last;
  if (!split_cells_.has(of.write.number())) return last;
  for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
    const cell one = records_of_byte(split_cells_[of.write.number()], byte);
    if (one.write.access_epoch() >= last.access_epoch()) last = one.write;
  }
  return last;
}

}  // namespace racecheck
