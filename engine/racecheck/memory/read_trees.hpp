// SPDX-License-Identifier: MIT
// Sets of reads as trees. They never change, equal ones exist once, and different ones share the
// parts that are equal. They are Patricia trees over the blocks (D. R. Morrison, PATRICIA, Journal
// of the ACM 15, 1968), with a list of reads at each leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/numbered_table.hpp"
#include "racecheck/memory/read_runs.hpp"

namespace racecheck {

// Mixes all bits, for a hash table whose size is a power of two.
inline std::uint64_t scramble(std::uint64_t bits) {
  bits *= 0x9e3779b97f4a7c15;
  return bits ^ bits >> 32;
}

// Trees with the reads of blocks. 0 is the one without any.
class read_trees {
 public:
  using number = object_number;

  void begin_launch();
  // The tree with these reads besides, of one block and in the order in which they happened. The
  // caller owns it, and still owns `to`.
  number add(number to, std::vector<read_group> reads);
  void own(number owned) {
    if (owned != 0) ++nodes_[owned].owners;
  }
  void drop(number owned);

  // Whether all reads have these marks.
  bool all_have(number tree, unsigned marks) const { return tree == 0 || marks_of(tree) == marks; }
  template <class Visit>
  void each_group(number tree, Visit visit) const {
    if (tree == 0) return;
    if (nodes_[tree].is_branch()) {
      each_group(nodes_[tree].zero(), visit);
      each_group(nodes_[tree].one(), visit);
      return;
    }
    for (number each = tree; each != 0; each = nodes_[each].next) {
      nodes_[each].run().each_group(nodes_[each].block, visit);
    }
  }
  std::size_t bytes() const { return nodes_.size() * (sizeof(node) + 2 * sizeof(number)); }

 private:
  static constexpr unsigned different_marks = 1u << cell_record::mark_bits;

  struct node {
    // A leaf has a run here; a branch, whose sign it is that no thread reads, its place.
    std::uint64_t first = 0;
    std::uint64_t ranks = 0;
    // A leaf's block, and the next leaf of this block or 0; a branch's children.
    std::uint32_t block = 0;
    number next = 0;
    std::uint32_t owners = 0;
    number same_bucket = 0;

    bool same_content(const node& other) const {
      return first == other.first && ranks == other.ranks && block == other.block &&
             next == other.next;
    }

    read_run run() const { return {first, ranks}; }

    bool is_branch() const { return ranks == 0; }
    number zero() const { return block; }
    number one() const { return next; }
    // The blocks below it are equal above this bit, by which its children differ.
    unsigned bit() const { return first & 0x1f; }
    std::uint32_t block_above_bit() const { return static_cast<std::uint32_t>(first >> 8); }
    unsigned marks() const { return static_cast<unsigned>(first >> 40); }
  };
  static_assert(sizeof(node) == 32);

  number make(const node& content);
  number make_branch(std::uint32_t block_above, unsigned bit, number zero, number one);
  number make_list(std::vector<read_group> reads);
  number insert(number into, const std::vector<read_group>& reads);
  number join(number left, std::uint32_t block_of_left, number right, std::uint32_t block_of_right);
  unsigned marks_of(number tree) const;
  std::size_t bucket_of(const node& content) const;
  void put_into_bucket(number put);
  void grow_buckets();

  numbered_table<node> nodes_;
  std::vector<number> buckets_;
};

}  // namespace racecheck
