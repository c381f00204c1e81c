// SPDX-License-Identifier: MIT
#include "racecheck/memory/access_history.hpp"

#include <algorithm>
#include <iterator>

namespace racecheck {
namespace {

// Sets of reads may take this and 12 bytes for each byte of memory: with its cells, which take 4,
// that makes 16.
constexpr std::size_t few_bytes_of_read_sets = std::size_t{64} << 20;

}  // namespace

bool access_history::begin_launch(std::size_t memory_bytes) {
  const bool start_over[] = {read_sets_.begin_launch(few_bytes_of_read_sets + 12 * memory_bytes),
                             locations_.begin_launch(), split_cells_.begin_launch(),
                             records_of_bytes_.begin_launch()};
  return std::find(std::begin(start_over), std::end(start_over), true) != std::end(start_over);
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
  if (write.access_epoch() >= clocks_.launch_start()) {
    cell_record each = write;
    each.unmark(cell::written_bytes);
    give_all(bytes.writes, each);
  }
  if (has_reads(whole.read)) {
    read_sets_.share(whole.read.number(), bytes_of_cell - 1);
    give_all(bytes.reads, whole.read);
  } else if (!whole.read.has(cell::has_reads) &&
             whole.read.access_epoch() >= clocks_.launch_start()) {
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
  if (has_reads(read)) {
    read = read_sets_.add(read, 0, made, by.name.block);
  } else if (read.has(cell::has_reads) || !is_of_launch() || may_replace()) {
    read = made;
  } else {
    in.has_marked_cells = true;
    read = read_sets_.add(read, clocks_.block_of(read.access_epoch()), made, by.name.block);
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

}  // namespace racecheck
