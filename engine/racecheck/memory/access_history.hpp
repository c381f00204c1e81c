// SPDX-License-Identifier: MIT
// All that is remembered of accesses: cells, and the tables with what does not fit into them.
#pragma once

#include <cstddef>

#include "racecheck/memory/atomic_locations.hpp"
#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/numbered_table.hpp"
#include "racecheck/memory/read_sets.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/launch_clocks.hpp"

namespace racecheck {

class access_history {
 public:
  explicit access_history(const launch_clocks& clocks) : clocks_(clocks), locations_(clocks) {}

  // To be called when the clocks have begun the launch, whose kernels can reach `memory_bytes`.
  // Returns whether numbers start over again, so that cells of earlier launches must forget theirs.
  bool begin_launch(std::size_t memory_bytes);
  // Everything about a cell, whose memory is gone.
  void forget(cell& of);
  // What a launch before this one has left in the tables, as cells still name it.
  void forget_earlier_launch(cell& of) {
    const bool is_earlier = of.write.has(cell::has_location) ? !locations_.has(of.write.number())
                            : of.write.has(cell::is_split)   ? !split_cells_.has(of.write.number())
                                                             : false;
    if (is_earlier) of.write = cell_record::of_number(0, of.write.marks() & cell::written_bytes);
  }

  // ---- Weak writes, and cells whose bytes have records of their own.
  // Of a cell of this launch. It may be the number of a split cell.
  cell_record& weak_write_of(cell& of) {
    const object_number at = of.location();
    return at != 0 ? locations_[at].weak_write : of.write;
  }
  // From here on each byte has records of its own, which begin as those of all.
  split_cell& split(region& in, cell& whole) {
    cell_record& write = weak_write_of(whole);
    if (!whole.write.has(cell::is_split)) begin_split(in, whole, write);
    return split_cells_[write.number()];
  }
  cell records_of_byte(const split_cell& of, std::size_t byte) const {
    cell one;
    if (of.writes != 0) one.write = records_of_bytes_[of.writes][byte];
    if (of.reads != 0) one.read = records_of_bytes_[of.reads][byte];
    return one;
  }
  // `writes`: the access that changed them. It may have made the reads of all bytes superfluous.
  void set_records_of_byte(split_cell& of, std::size_t byte, const cell& changed, bool writes);

  // ---- Reads since the last write.
  bool has_reads(cell_record read) const {
    return read.has(cell::has_reads) && read_sets_.has(read.number());
  }
  // Takes a read of `by`, a thread of `block`, to those of `read`.
  void keep_read(const block_state& block, const thread_state& by, region& in, cell_record made,
                 cell_record& read);
  void drop_reads(cell_record& read) {
    if (has_reads(read)) read_sets_.drop(read.number());
    read = {};
  }
  const read_sets& reads() const { return read_sets_; }

  // ---- Atomics and volatile accesses.
  atomic_locations& locations() { return locations_; }
  const atomic_locations& locations() const { return locations_; }
  // The cell's, or a new one whose first access has this shape.
  object_number make_location(region& in, cell& of, access_shape shape);

 private:
  void begin_split(region& in, cell& whole, cell_record& write);

  const launch_clocks& clocks_;
  read_sets read_sets_;
  atomic_locations locations_;
  numbered_table<split_cell> split_cells_;
  numbered_table<records_of_bytes> records_of_bytes_;
};

}  // namespace racecheck
