// SPDX-License-Identifier: MIT
// What a race lacks, by what the lines of the source say of it: each of these gives a finding
// another diagnosis if its subject is what the finding is about.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "racecheck/races/finding.hpp"

namespace racecheck {

inline constexpr diagnosis_set lost_update = {diagnosis::missing_atomic};

// Whether a line changes elements, all of them by `+=`, `++` and the like.
bool only_updates(std::string_view line);

// Where threads read an element and write it back: the instructions, and the lines of those that
// write. The compiler may have made several of one line.
struct updates {
  std::set<place_number> places;
  std::set<std::string> lines;

  bool contain(const racing_access& of) const;
};
updates find_updates(const std::set<plain_update>& all, const std::vector<finding>& races);
// Two updates that nothing orders: a barrier, even of the grid, would not be what is missing.
void name_update(finding& of, const updates& known);

// Pairs of lines of one file at which a thread reads an element plainly, and then changes it by an
// atomic. (If the read comes after the atomic in the source, a loop has come round: it is not what
// the atomic was meant to go by.)
using checks = std::set<std::pair<std::string, std::string>>;
checks find_checks(const std::set<plain_update>& all);

// A loop that starts at another element in each block, and steps by one block.
void name_stride(finding& of);
// A plain access and an atomic one between lines at which nothing orders other data, either. All
// others have been named.
void name_unordered(std::vector<finding>& all);

// Two names for the same bytes: nothing has to be ordered then, but told apart.
void name_shared_bytes(finding& of);
// What the lines say of a plain access that meets an atomic one.
void name_plain_access(finding& of, const checks& known);
// A flag that is set and read plainly. One that is set under a lock is checked again there, which
// is no lost update.
void name_plain_flag(finding& of);

// Stores by one statement of several threads, of which one atomic, or one condition, decides which
// thread stores. All others have been named.
void name_stores(std::vector<finding>& all);

// A way over atomics of which one only looks at its word, or the other one does not look at what it
// gets, is none.
void forget_idle_way(finding& of);
// Where a barrier of the block has to stand between the lines of another race, one of the warp is
// not what is missing between these. All others have been named.
void widen_barriers(std::vector<finding>& all);
// What a thread does after its own signal: whether the source has it in this order, and whether the
// signal is one.
void name_late_access(finding& of);
// A race in one block is no matter of barriers where an atomic stands in for one, or none can
// stand.
void name_race_in_block(finding& of);
// Whether what was found on the way is what the source says: the lock that only one of two updates
// holds, or of which each holds another one, and the barrier before a release.
void name_cause(finding& of);
// A thread that hands data over in each round, and does not wait until they have been read.
void name_overtaking(finding& of);
// What a lock of the program's own lets through, what is read or reused without one, and a signal
// for which the reader does not wait. All others have been named.
void name_lock_free(finding& of);

}  // namespace racecheck
