// SPDX-License-Identifier: MIT
// From the findings of the checker to those of a report: they get their lines, and many become few,
// those of one program's run, and those of its runs with many schedules.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "racecheck/races/finding.hpp"

namespace racecheck {

// The findings of a run with this seed get their lines, all of which the compiler is asked for at
// once, and what these lines say; and are merged by them. report/locating.cpp has it.
std::vector<finding> locate(std::vector<finding> all, const std::set<plain_update>& plain_updates,
                            std::uint64_t seed);

// The chain of a race, whose accesses and steps have their lines: report/drawn_chain.cpp makes it.
// At least one of the arrows lacks something.
drawn_chain chain_of(const finding& of);

// Findings of one diagnosis at the same lines become one, with their counts and seeds added. The
// worst come first. Merged findings of several runs may be merged again.
std::vector<finding> merge_by_lines(std::vector<finding> findings);

// `findings` are those of merge_by_lines().
std::vector<element_findings> merge_by_element(const std::vector<finding>& findings);

}  // namespace racecheck
