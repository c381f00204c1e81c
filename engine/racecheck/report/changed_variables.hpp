// SPDX-License-Identifier: MIT
// What a line of the source changes, as far as its text tells.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace racecheck {

// By the first name of each expression: "bins" for bins[k]++ and for *bins += 1. What stands in the
// head of a `for` does not count: it is mostly the loop's counter.
struct changed_variables {
  std::set<std::string> updated;           // by `+=`, `++` and the like
  std::set<std::string> updated_elements;  // those of them that are elements or behind a pointer
  std::set<std::string> stored_elements;   // by `=`, elements or behind a pointer as well
  std::set<std::string> stored_places;     // the same as they stand there: "bins[k]"
  std::set<std::string> assigned;          // by `=`, all others
};
changed_variables variables_changed_by(std::string_view line);

// Whether a name may have this letter.
bool is_of_name(char letter);

// Whether the name stands on the line, and not only as a part of another one.
bool has_name(std::string_view line, std::string_view name);

// What stands in the parentheses after the keyword, `if` or `while`; up to the end of the line if
// they are closed on another one, and nothing if the keyword is not there.
std::string_view condition_after(std::string_view keyword, std::string_view line);

}  // namespace racecheck
