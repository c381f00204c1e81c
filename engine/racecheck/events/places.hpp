// SPDX-License-Identifier: MIT
// Places in the program, as 32-bit numbers: of an instrumented instruction its offset in the
// program, of an atomic the place of the call that the backend passes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/source_line.hpp"

namespace racecheck {

using place_number = std::uint32_t;

// Of the instruction before `return_address`.
place_number place_of(const void* return_address);
place_number place_of(const cpu_backend::place& at);
// The return address that has this place; nullptr for a place of the other kind.
const void* instruction_at(place_number place);

using cpu_backend::source_line;

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
// The program's function at `address`, with its parameters; empty if unknown.
std::string find_function(const void* address);

}  // namespace racecheck
