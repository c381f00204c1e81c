// SPDX-License-Identifier: MIT
// Findings whose diagnosis is another one only because of what happened to lie between the two
// threads in that schedule.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "racecheck/report/located_finding.hpp"

namespace racecheck {

using two_lines = std::pair<std::string, std::string>;

// The places of both accesses, the smaller text first.
two_lines lines_of(const located_finding& of);

// That a plain access meets atomics, and nothing else; of one block a barrier may be what is
// missing.
bool is_plain_alone(const finding& of);

// Then what else a race at its lines lacks came of other atomics that lay between. (Who reads
// before another one's atomic was not meant to have seen it, while one that reads after it may be.)
bool is_plain_for_all(const finding& of);

// Those that are there by chance are counted for what is really missing at their lines, and are
// gone. Each diagnosis stands at most once for two lines.
void merge_chance_findings(std::vector<located_finding>& all);

}  // namespace racecheck
