// SPDX-License-Identifier: MIT
// One access to a cell against what is remembered of that cell.
#pragma once

#include "racecheck/memory/access_history.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/cell_access.hpp"
#include "racecheck/races/finding_collection.hpp"
#include "racecheck/races/resident_blocks.hpp"

namespace racecheck {

// Each function reports a race with what it is given, if there is one. All accesses are of threads
// of the running block.
class conflict_check {
 public:
  conflict_check(const launch_clocks& clocks, const resident_blocks& blocks,
                 const access_history& history, finding_collection& findings)
      : clocks_(clocks), blocks_(blocks), history_(history), findings_(findings) {}

  std::uint64_t races() const { return findings_.races(); }
  // Whether `other` is before what `by` does now.
  bool before(const thread_state& by, cell_record other) const {
    return is_before(clocks_, blocks_.running(), by, other);
  }

  void check_weak_write(const thread_state& by, const cell_access& now, operation what,
                        cell_record write) {
    if (!before(by, write)) [[unlikely]]
      findings_.add_race(by, now, what, write, operation::write);
  }
  // `read`: one, or a set.
  void check_reads(const thread_state& by, const cell_access& now, operation what,
                   cell_record read);
  // To be called where a race was found: that a thread changes what it has read itself since the
  // last write, if it has. `reads`: those that are remembered.
  void note_update(const thread_state& by, const cell_access& now, operation what,
                   cell_record reads);
  // All that are remembered of the cell's location.
  void check_strong_writes(const thread_state& by, const cell_access& now, operation what,
                           const location& at);

 private:
  bool is_morally_strong(const thread_state& by, cell_record made, cell_record other) const;

  const launch_clocks& clocks_;
  const resident_blocks& blocks_;
  const access_history& history_;
  finding_collection& findings_;
};

}  // namespace racecheck
