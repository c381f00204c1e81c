// SPDX-License-Identifier: MIT
// Many reads of one block in few words.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Of reads in the order in which they happened, leaves the last one of each thread and kind.
void leave_last(std::vector<read_group>& reads);

// The same reads, sorted by threads.
std::vector<read_run> runs_of(std::vector<read_group> reads);

}  // namespace racecheck
