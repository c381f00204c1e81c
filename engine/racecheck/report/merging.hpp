// SPDX-License-Identifier: MIT
// Many findings become few: those of one program's run, and those of its runs with many schedules.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "racecheck/report/located_finding.hpp"

namespace racecheck {

// Findings of one diagnosis at the same lines become one, with their counts and seeds added. The
// worst come first. Merged findings of several runs may be merged again.
std::vector<located_finding> merge_by_lines(std::vector<located_finding> findings);

// One diagnosis of one element, at one pair of lines or several.
struct element_findings {
  located_finding shown;
  std::vector<located_finding> lesser;  // at the shown lines, and lacking only a part of it
  std::vector<std::pair<source_line, source_line>> other_lines;
  std::uint64_t count = 0;        // of all
  std::set<std::uint64_t> seeds;  // of all
};
// `findings` are those of merge_by_lines().
std::vector<element_findings> merge_by_element(const std::vector<located_finding>& findings);

}  // namespace racecheck
