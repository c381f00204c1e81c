// SPDX-License-Identifier: MIT
// Findings in a student's words.
#pragma once

#include <string>
#include <vector>

#include "racecheck/races/finding.hpp"
#include "racecheck/report/located_finding.hpp"

namespace racecheck {

// The name of what is missing, as docs/racecheck.md lists it: "missing acquire", ... One race can
// have several.
std::vector<std::string> diagnosis_of(const finding& found);

// "block 3 thread 17", or "block (3,1,0) thread (1,0,2)".
std::string thread_text(const uint3& block, const uint3& thread);

// "missing acquire" and the like: the names of what is missing, in the order in which they are
// told.
std::vector<std::string> names_of(const missing& lacks);

// What the thread did: "read", "updated atomically at block scope", ...
std::string verb_of(const party& of);

// "line 12", or "that line" if it is not known.
std::string line_text(const source_line& at);

// A few lines, the last one with its newline.
std::string text_of(const located_finding& found);

}  // namespace racecheck
