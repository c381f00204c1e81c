// SPDX-License-Identifier: MIT
// The race test for plain accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "racecheck/events/event_consumer.hpp"
#include "racecheck/memory/access_history.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/atomic_access_check.hpp"
#include "racecheck/races/cell_access.hpp"
#include "racecheck/races/conflict_check.hpp"
#include "racecheck/races/finding_collection.hpp"
#include "racecheck/races/resident_blocks.hpp"

namespace racecheck {

// All accesses are of threads of the running block.
class plain_access_check {
 public:
  plain_access_check(const launch_clocks& clocks, const resident_blocks& blocks,
                     access_history& history, conflict_check& conflicts,
                     atomic_access_check& atomics, finding_collection& findings)
      : clocks_(clocks),
        blocks_(blocks),
        history_(history),
        conflicts_(conflicts),
        atomics_(atomics),
        findings_(findings) {}

  // Returns whether one of them writes.
  bool check(std::span<const logged_access> logged);
  // In the weak form, where nobody looks for races: only what the writes mean for atomics. Returns
  // whether there are any.
  bool carry_writes(std::span<const logged_access> logged);
  // As check(), for one access, of any form and whatever its cells hold. `marks` are those of its
  // cell_record.
  void check_cells(const logged_access& of, unsigned marks);

 private:
  bool is_after_all_of(const thread_state& by, epoch launch_start, std::uint64_t stamp,
                       const cell& of) const;
  bool read_whole_cell(const thread_state& by, epoch launch_start, std::uint64_t stamp,
                       site_number site, cell& of);
  bool write_whole_cell(const thread_state& by, epoch launch_start, std::uint64_t stamp,
                        site_number site, cell& of);
  void use_cell(thread_state& by, const cell_access& now, bool writes, cell_record& write,
                cell_record& read);
  void use_byte(thread_state& by, const cell_access& now, bool writes, std::size_t byte);

  const launch_clocks& clocks_;
  const resident_blocks& blocks_;
  access_history& history_;
  conflict_check& conflicts_;
  atomic_access_check& atomics_;
  finding_collection& findings_;
};

}  // namespace racecheck
