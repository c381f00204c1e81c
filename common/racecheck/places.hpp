// SPDX-License-Identifier: MIT
// Places in the program, as 32-bit numbers: of an instrumented instruction its offset in the
// program, of an atomic the place of the call that the backend passes on.
#pragma once

#include <string>
#include <vector>

#include "cpu_backend/place.hpp"
#include "racecheck/shadow.hpp"

namespace racecheck {

// Of the instruction before `return_address`.
place_number place_of(const void* return_address);
place_number place_of(const cpu_backend::place& at);

struct source_line {
  std::string file;  // as seen from the current directory, if it is below it
  unsigned line = 0;
  std::string text;  // of the line, without the space around it; empty where it can't be read
};

// In the order of the numbers. Asks addr2line for what the compiler knows; a place that it doesn't
// know has no file.
std::vector<source_line> source_lines(const std::vector<place_number>& places);

// The name of the program's variable at `address` and the offset within it; empty if unknown.
struct variable_name {
  std::string name;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
variable_name find_variable(const void* address);

}  // namespace racecheck
