// SPDX-License-Identifier: MIT
// The reads of cells that several threads have read since the last write.
//
// Where many threads read many elements, many cells have the same reads. So a set of reads has a
// number, cells that have the same one share it, and what another read makes of it is remembered:
// mostly the next cell takes the same step.
//
// A set has the reads of the block that was the last one to read, and a tree with those of the
// others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/numbered_table.hpp"
#include "racecheck/memory/read_runs.hpp"
#include "racecheck/memory/read_trees.hpp"
#include "racecheck/memory/run_list.hpp"

namespace racecheck {

class read_sets {
 public:
  using number = object_number;

  // Forgets all sets. From here on they may take `most_bytes`, or a little more. Returns whether
  // the numbers start over again, so that cells must forget theirs.
  bool begin_launch(std::size_t most_bytes);
  // Whether it is a set of this launch.
  bool has(number set) const { return sets_.has(set); }

  // What a cell has instead of `reads`, one read by a thread of `block_of_reads` or a set, once a
  // thread of `block` has `made` one more. Of each thread the last read of each kind counts: what
  // is after that one is after the earlier ones. Where there is no room left, it is `made` alone.
  cell_record add(cell_record reads, std::uint32_t block_of_reads, cell_record made,
                  std::uint32_t block);
  // So many more cells have it; one has it no more.
  void share(number set, unsigned cells) { sets_[set].cells += cells; }
  void drop(number set);

  // Whether all reads of the set have these marks.
  bool all_have(number set, unsigned marks) const;
  // visit(const read_group&). Of one thread there may be earlier reads, too.
  template <class Visit>
  void each_group(number set, Visit visit) const {
    const read_set& of = sets_[set];
    trees_.each_group(of.others, visit);
    if (of.more) {
      of.more->runs.each([&](const read_run& each) { each.each_group(of.block, visit); });
    }
    of.latest.each_group(of.block, visit);
  }

  // How many reads there was no room for, in all launches.
  std::uint64_t forgotten() const { return forgotten_; }
  // What the sets take now, about.
  std::size_t bytes() const { return sets_.size() * 2 * sizeof(read_set) + trees_.bytes(); }

 private:
  struct earlier_reads {
    run_list runs;
    // When there are so many, those are left out that do not count any more.
    std::size_t most = 2 * groups_of_block;
  };
  struct read_set {
    // Of the last block to read: the latest reads, and the others in the order in which they came.
    read_run latest;
    std::unique_ptr<earlier_reads> more;
    std::uint32_t block = 0;
    read_trees::number others = 0;
    std::uint32_t cells = 0;
    std::uint32_t version = 0;  // grows when the number means something else
  };
  static_assert(sizeof(read_set) == 40);

  // A cell with the reads `from` had `to` after `added`.
  struct step {
    cell_record from, added, to;
    std::uint32_t version_of_from = 0, version_of_to = 0;
  };

  static void add_to(read_set& to, const read_group& made);
  static std::vector<read_group> groups_of(const read_set& of);
  std::uint32_t version_of(cell_record reads) const;
  bool is_known(const step& at, cell_record from, cell_record made) const;

  std::size_t most_bytes_ = 0;
  std::uint64_t forgotten_ = 0;
  numbered_table<read_set> sets_;
  read_trees trees_;
  std::array<step, 16> steps_;
  // Steps of blocks that had not read before: `from` is the tree.
  std::array<step, 64> first_steps_;
};

}  // namespace racecheck
