// SPDX-License-Identifier: MIT
// Many findings become few: those of one program's run, and those of its runs with many schedules.
#pragma once

#include <vector>

#include "racecheck/races/finding.hpp"

namespace racecheck {

// Findings of one diagnosis at the same lines become one, with their counts and seeds added. The
// worst come first. Merged findings of several runs may be merged again.
std::vector<finding> merge_by_lines(std::vector<finding> findings);

// `findings` are those of merge_by_lines().
std::vector<element_findings> merge_by_element(const std::vector<finding>& findings);

}  // namespace racecheck
