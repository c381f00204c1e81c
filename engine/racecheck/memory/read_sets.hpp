// SPDX-License-Identifier: MIT
// The reads of cells that several threads have read since the last write: runs of alike reads,
// lists and trees of them, and the sets that cells name by a number.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "racecheck/memory/cell.hpp"

namespace racecheck {

// Reads by up to 64 threads of one block, by one instruction in one epoch.
struct read_group {
  cell_record first;        // as the first of the 64 threads would have it
  std::uint64_t ranks = 0;  // bit i: the thread of rank first.rank() + i
  std::uint32_t block = 0;
};

// Such a group, or several full ones that are alike, down from that of the highest ranks. How many
// there are besides it stands in the lowest bits of the rank.
class read_run {
 public:
  read_run() = default;
  explicit read_run(const read_group& of) : top_(of.first), ranks_(of.ranks) {}
  read_run(std::uint64_t bits, std::uint64_t ranks)
      : top_(cell_record::of_bits(bits)), ranks_(ranks) {}

  std::uint64_t bits() const { return top_.bits(); }
  std::uint64_t ranks() const { return ranks_; }
  unsigned marks() const { return top_.marks(); }
  bool is_full() const { return ranks_ == all_ranks; }
  unsigned first_rank() const { return top_.rank() / 64 * 64; }
  unsigned more_groups() const { return top_.rank() % 64; }
  // Takes in a read of these threads that is alike; returns whether it is.
  bool add(const read_group& made) {
    if (top_ != made.first) return has(made);
    ranks_ |= made.ranks;
    return true;
  }
  bool has(const read_group& made) const {
    const unsigned rank = made.first.rank();
    return is_full() && top_.with_rank(rank) == made.first && rank <= first_rank() &&
           rank + 64 * more_groups() >= first_rank();
  }
  // Takes in the groups below it, if they are alike and all are full; returns whether they are.
  bool add_below(const read_run& below) {
    if (!is_full() || !below.is_full()) return false;
    const unsigned next = first_rank() - 64 * (more_groups() + 1);
    if (below.first_rank() != next || top_.with_rank(0) != below.top_.with_rank(0)) return false;
    top_ = top_.with_rank(top_.rank() + below.more_groups() + 1);
    return true;
  }
  template <class Visit>
  void each_group(std::uint32_t block, Visit visit) const {
    for (unsigned i = 0; i <= more_groups(); ++i) {
      visit(read_group{top_.with_rank(first_rank() - 64 * i), ranks_, block});
    }
  }

 private:
  static constexpr std::uint64_t all_ranks = ~std::uint64_t{0};

  cell_record top_;
  std::uint64_t ranks_ = 0;
};

inline constexpr std::size_t groups_of_block = most_threads_of_block / 64;

// Leaves the last of these reads, which are in the order in which they happened, by each thread and
// of each kind.
void leave_last(std::vector<read_group>& reads);

// The same reads, sorted by threads.
std::vector<read_run> runs_of(std::vector<read_group> reads);

// A long list of runs that is copied often and grows at its end: copies share all but the last of
// it.
class run_list {
 public:
  run_list() = default;
  explicit run_list(const std::vector<read_run>& runs) {
    for (const read_run& each : runs) push_back(each);
  }

  std::size_t size() const { return shared_count_ + last_.size(); }

  void push_back(const read_run& run) {
    if (last_.size() == 2 * at_once) share_first();
    last_.push_back(run);
  }

  // Those that may still change: all, or at least as many as a block has groups.
  std::span<read_run> last() { return last_; }

  // visit(const read_run&), in the order in which they came.
  template <class Visit>
  void each(Visit visit) const {
    if (shared_) each_of(*shared_, visit);
    for (const read_run& run : last_) visit(run);
  }

 private:
  static constexpr std::size_t at_once = groups_of_block;

  struct segment {
    std::shared_ptr<const segment> before;
    std::array<read_run, at_once> runs;
  };

  template <class Visit>
  static void each_of(const segment& of, Visit visit) {
    if (of.before) each_of(*of.before, visit);
    for (const read_run& run : of.runs) visit(run);
  }

  void share_first() {
    auto made = std::make_shared<segment>();
    made->before = std::move(shared_);
    std::copy_n(last_.begin(), at_once, made->runs.begin());
    last_.erase(last_.begin(), last_.begin() + at_once);
    shared_ = std::move(made);
    shared_count_ += at_once;
  }

  std::shared_ptr<const segment> shared_;
  std::size_t shared_count_ = 0;
  std::vector<read_run> last_;
};

// Mixes all bits, for a hash table whose size is a power of two.
inline std::uint64_t scramble(std::uint64_t bits) {
  bits *= 0x9e3779b97f4a7c15;
  return bits ^ bits >> 32;
}

// Sets of reads as trees. They never change, equal ones exist once, and different ones share the
// parts that are equal. They are Patricia trees over the blocks (D. R. Morrison, PATRICIA, Journal
// of the ACM 15, 1968), with a list of reads at each leaf. 0 is the one without any.
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

// The reads of cells that several threads have read since the last write.
//
// Where many threads read many elements, many cells have the same reads. So a set of reads has a
// number, cells that have the same one share it, and what another read makes of it is remembered:
// mostly the next cell takes the same step.
//
// A set has the reads of the block that was the last one to read, and a tree with those of the
// others.
class read_sets {
 public:
  using number = object_number;

  // Forgets all sets. From here on they may take `most_bytes`, or a little more. Returns whether
  // the numbers start over again, so that cells must forget theirs.
  bool begin_launch(std::size_t most_bytes);
  // Whether it is a set of this launch.
  bool has(number set) const { return sets_.has(set); }
  number first() const { return sets_.first(); }

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
    // The latest reads by the last block to read, and its others in the order in which they came.
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
