// SPDX-License-Identifier: MIT
// Findings in a student's words: the texts of diagnoses.json with places and threads filled in.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "racecheck/report/access_text.hpp"
#include "racecheck/report/merging.hpp"

namespace racecheck {

// "missing acquire" and the like, in the order in which they are told.
std::vector<std::string> names_of(const diagnosis_set& codes);

// "race (shared memory) on sums[3] (int [64])": without an end of line, as all that follows.
std::string heading_of(const located_finding& of);

// "written by block 0 thread 3 at FILE:LINE".
std::string access_text(const party& of, const source_line& at, const own_file& own);

// What is missing and what to do about it: for each code, in the order in which they are told, a
// sentence. Some of them are no diagnosis; they say more about another one.
std::vector<std::pair<diagnosis, std::string>> advice_of(const located_finding& of,
                                                         const own_file& own);

// What to do, in a few words, of what an arrow of the race's chain lacks. Lines are of the file in
// which they are.
std::string repair_of(diagnosis code, const located_finding& of, const drawn_chain::arrow& arrow);

// A few lines, the last one with its newline.
std::string text_of(const located_finding& of, const own_file& own = {});

// Below that: what lacks less, the other lines of the element, which seeds show it and how often it
// was found. `schedules` is how many there were; 0 if there is only the one that runs.
std::vector<std::string> notes_of(const element_findings& of, std::uint64_t schedules,
                                  const own_file& own = {});

}  // namespace racecheck
