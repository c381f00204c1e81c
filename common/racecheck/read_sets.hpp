// SPDX-License-Identifier: MIT
// The reads of cells that several threads have read since the last write.
//
// Where all threads read all elements, each cell has the same reads. So a set of reads has a
// number, cells that have the same one share it, and what another read makes of it is remembered:
// mostly the next cell takes the same step.
#pragma once

#include <cstdint>
#include <vector>

#include "racecheck/shadow.hpp"

namespace racecheck {

// Reads by up to 64 threads of one block, by one instruction in one epoch.
struct read_group {
  std::uint64_t ranks = 0;  // bit i: first_rank() + i
  std::uint32_t at = 0;
  std::uint32_t block = 0;
  std::uint32_t sixty_four = 0;
  site_number site = 0;
  bool is_volatile = false;

  std::uint32_t first_rank() const { return 64 * sixty_four; }
  bool has_same_threads(const read_group& other) const {
    return block == other.block && sixty_four == other.sixty_four;
  }
};
static_assert(sizeof(read_group) == 24);

class read_sets {
 public:
  using number = std::uint32_t;

  // Forgets all sets. Returns whether the numbers start over again, so that cells must forget
  // theirs.
  bool begin_launch();
  // Whether it is a set of this launch.
  bool has(number set) const { return set >= first_; }

  // A set for one cell; what one cell has instead once there is another read.
  number make(std::uint32_t first_block, cell_record first, std::uint32_t block,
              cell_record second);
  number add(number to, std::uint32_t block, cell_record read);
  // So many more cells have it; one has it no more.
  void share(number set, unsigned cells) { at(set).cells += cells; }
  void drop(number set);

  cell_record last(number set) const { return sets_[set - first_].last; }
  // Of one thread the last read, and maybe earlier ones.
  const std::vector<read_group>& groups(number set) const { return sets_[set - first_].groups; }

 private:
  struct step {
    number to = 0;  // none
    std::uint32_t version = 0;
    std::uint32_t block = 0;
    cell_record read;
  };
  struct read_set {
    std::vector<read_group> groups;
    std::size_t compact_at = 64;
    cell_record last;
    std::uint32_t cells = 0;
    std::uint32_t version = 0;  // grows when the number means something else
    step latest;

    void add(std::uint32_t block, cell_record read);
  };
  read_set& at(number set) { return sets_[set - first_]; }
  bool leads_on(const step& known, std::uint32_t block, cell_record read) {
    return known.to >= first_ && at(known.to).version == known.version && known.block == block &&
           known.read == read;
  }
  number new_set();

  number first_ = 1;
  std::vector<read_set> sets_;
  std::vector<number> unused_;
  std::uint32_t pair_block_ = 0;  // of the pair that was made last
  cell_record pair_first_;
  step pair_;
};

}  // namespace racecheck
