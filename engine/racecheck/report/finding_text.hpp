// SPDX-License-Identifier: MIT
// Findings in a student's words: the rows of words.inc with places and threads filled in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding.hpp"
#include "vector_types.h"

namespace racecheck {

// "block 3", or "block (3,1,0)".
std::string index_text(const char* what, const uint3& index);

// "block 3 thread 17", or "block (3,1,0) thread (1,0,2)".
std::string thread_text(const uint3& block, const uint3& thread);

// "kernel scale in stream copies", "the host".
std::string work_text(const racing_work& of);
// What was done to the variable: "read", "updated atomically at block scope", ...
std::string verb_of(const racing_access& of);
// What the thread does, "updates", and how: "atomically at block scope", "(volatile)" or nothing.
std::string doing_of(const racing_access& of);
std::string manner_of(const racing_access& of);

// How a reader knows the lines of one file, whose code is all that they have: by their numbers
// alone. `first_line` is 1 to them.
struct own_file {
  std::string path;  // empty if there is no such file
  unsigned first_line = 1;

  bool has(const source_line& at) const;
};

// "FILE:LINE"; "line 12" in the reader's own file.
std::string place_text(const source_line& at, const own_file& own = {});

// "line 12", or "that line" if it is not known.
std::string line_text(const source_line& at, const own_file& own = {});

// What the rows may ask of a finding, and the words for their gaps.
std::map<std::string_view, bool> conditions_of(const finding& of);
std::map<std::string_view, std::string> values_of(const finding& of, const own_file& own);

// "missing acquire" and the like, in the order in which they are told.
std::vector<std::string> names_of(const diagnosis_set& codes);

// "race (shared memory) on sums[3] (int [64])": without an end of line, as all that follows.
std::string heading_of(const finding& of);

// "written by block 0 thread 3 at FILE:LINE".
std::string access_text(const racing_access& of, const own_file& own);

// What is missing and what to do about it: for each code, in the order in which they are told, a
// sentence. Some of them are no diagnosis; they say more about another one.
std::vector<std::pair<diagnosis, std::string>> advice_of(const finding& of, const own_file& own);

// What to do, in a few words, of what an arrow of the race's chain lacks. Lines are of the file in
// which they are.
std::string repair_of(diagnosis code, const finding& of, const drawn_chain::arrow& arrow);

// A few lines, the last one with its newline.
std::string text_of(const finding& of, const own_file& own = {});

// Below that: what lacks less, the other lines of the element, which seeds show it and how often it
// was found. `schedules` is how many there were; 0 if there is only the one that runs.
std::vector<std::string> notes_of(const element_findings& of, std::uint64_t schedules,
                                  const own_file& own = {});

}  // namespace racecheck
