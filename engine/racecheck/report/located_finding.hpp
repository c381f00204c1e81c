// SPDX-License-Identifier: MIT
// Findings with the lines of the source that they name.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding.hpp"

namespace racecheck {

// A finding with its places as lines of the source.
struct located_finding {
  finding found;
  source_line first;
  source_line second;
  source_line releaser;
  source_line acquirer;
  std::vector<source_line> steps;  // of the chain between the two
  // Threads of different blocks race at these lines, too, and nothing orders them.
  bool also_between_blocks = false;
};

// Asks for all lines at once. Findings of one diagnosis at the same lines become one, with their
// counts added. Where both lines update the element by plain accesses, the diagnosis says so. The
// worst come first.
std::vector<located_finding> locate(const std::vector<finding>& findings,
                                    const std::set<plain_update>& plain_updates);

// One diagnosis of one element, at one pair of lines or several.
struct element_findings {
  located_finding shown;
  std::vector<located_finding> lesser;  // at the shown lines, and lacking only a part of it
  std::vector<std::pair<source_line, source_line>> other_lines;
  std::uint64_t count = 0;  // of all
};
std::vector<element_findings> by_element(const std::vector<located_finding>& findings);

// "FILE:LINE".
std::string place_text(const source_line& at);

}  // namespace racecheck
