// SPDX-License-Identifier: MIT
// The reads of cells that several threads have read since the last write.
//
// Where many threads read many elements, many cells have the same reads, or nearly the same. So a
// set is a tree that never changes, equal trees exist once, and different ones share the parts that
// are equal: a set has a number, and one more read makes a few nodes, or none where another cell
// came to the same set before. It is a Patricia tree over the threads, with 64 of them to a leaf
// (D. R. Morrison, PATRICIA, Journal of the ACM 15, 1968).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "racecheck/cell.hpp"
#include "racecheck/numbered_table.hpp"

namespace racecheck {

// Reads by up to 64 threads of one block, by one instruction in one epoch.
struct read_group {
  cell_record first;        // as the first of the 64 threads would have it
  std::uint64_t ranks = 0;  // bit i: the thread of rank first.rank() + i
  std::uint32_t block = 0;
};

class read_sets {
 public:
  using number = object_number;

  // Forgets all sets. From here on they may take `most_bytes`, or a little more. Returns whether
  // the numbers start over again, so that cells must forget theirs.
  bool begin_launch(std::size_t most_bytes);
  // Whether it is a set of this launch.
  bool has(number set) const { return nodes_.has(set); }

  // What a cell has in place of `reads`, one read by a thread of `block_of_reads` or a set, once a
  // thread of `block` has `made` one more. Of each thread the last read of each kind counts: what
  // is after that one is after the earlier ones. Where there is no room left, it is `made` alone.
  cell_record add(cell_record reads, std::uint32_t block_of_reads, cell_record made,
                  std::uint32_t block);
  // So many more cells have it; one has it no more.
  void share(number set, unsigned cells) { nodes_[set].owners += cells; }
  void drop(number set);

  // Whether all reads of the set have these marks.
  bool all_have(number set, unsigned marks) const { return marks_of(set) == marks; }
  // visit(const read_group&)
  template <class Visit>
  void each_group(number set, Visit visit) const {
    const node& at = nodes_[set];
    if (at.is_branch()) {
      each_group(at.zero(), visit);
      each_group(at.one(), visit);
      return;
    }
    visit(at.group());
    if (at.next != 0) each_group(at.next, visit);
  }

  // How many reads there was no room for.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  // 64 threads.
  using place = std::uint64_t;
  static place place_of(const read_group& of) {
    return std::uint64_t{of.block} << (rank_bits - 6) | of.first.rank() / 64;
  }
  static constexpr unsigned different_marks = 1u << cell_record::mark_bits;

  struct node {
    // A leaf has a group here; a branch, whose sign it is that no thread reads, its place.
    std::uint64_t first = 0;
    std::uint64_t ranks = 0;
    // A leaf's block, and another leaf of the same threads or 0; a branch's children.
    std::uint32_t block = 0;
    number next = 0;
    // Cells, nodes and steps that have its number.
    std::uint32_t owners = 0;
    number same_bucket = 0;

    bool same_content(const node& other) const {
      return first == other.first && ranks == other.ranks && block == other.block &&
             next == other.next;
    }
    read_group group() const { return {cell_record::of_bits(first), ranks, block}; }

    bool is_branch() const { return ranks == 0; }
    number zero() const { return block; }
    number one() const { return next; }
    // All places below it are equal above this bit, by which its children differ.
    unsigned bit() const { return first & 0x3f; }
    place prefix() const { return first >> 6 & ((place{1} << place_bits) - 1); }
    unsigned marks() const { return static_cast<unsigned>(first >> (6 + place_bits)); }
  };
  static_assert(sizeof(node) == 32);
  static constexpr unsigned place_bits = 32 + rank_bits - 6;
  static_assert(6 + place_bits + cell_record::mark_bits + 1 <= 64);

  // One read that was added; it owns both sets.
  struct step {
    cell_record from, made, to;
  };

  number make(const node& content);
  number make_leaf(const read_group& group, number next);
  number make_branch(place prefix, unsigned bit, number zero, number one);
  number join(number left, place of_left, number right, place of_right);
  number insert(number into, const read_group& made);
  number insert_into_leaf(number into, const read_group& made);
  void own(number owned) {
    if (owned != 0) ++nodes_[owned].owners;
  }
  unsigned marks_of(number set) const;
  std::size_t bucket_of(const node& content) const;
  void grow_buckets();
  void remember(step& at, const step& now);

  std::size_t most_bytes_ = 0;
  std::uint64_t forgotten_ = 0;
  numbered_table<node> nodes_;
  std::vector<number> buckets_;
  std::array<step, 64> steps_;
};

}  // namespace racecheck
