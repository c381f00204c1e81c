// SPDX-License-Identifier: MIT
// Findings in a student's words, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "racecheck/finding.hpp"
#include "racecheck/places.hpp"

namespace racecheck {

// A finding with its places as lines of the source.
struct located_finding {
  finding found;
  source_line first;
  source_line second;
  source_line releaser;
  source_line acquirer;
};

// Asks for all lines at once. Findings at the same lines become one, with their counts added.
std::vector<located_finding> locate(const std::vector<finding>& findings);

// The name of what is missing, as docs/racecheck.md lists it: "missing acquire", ... One race can
// have several.
std::vector<std::string> diagnosis_of(const finding& found);

// A few lines, the last one with its newline.
std::string text_of(const located_finding& found);

// One object, without a newline.
std::string json_of(const located_finding& found);

// A JSON string with its quotes.
std::string json_string(const std::string& text);

}  // namespace racecheck
