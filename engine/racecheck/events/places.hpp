// SPDX-License-Identifier: MIT
// Places in the program, their lines and its names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "racecheck/memory/cell.hpp"

namespace racecheck {

// Whether the function there is the program's own: none of the standard library's, which the
// backend may have called, of the backend's or of the checker's.
bool is_in_own_function(const void* address);

// Whether `address` is a variable in which the program's compiler notes that this OS thread has
// constructed its thread-local variables, as __shared__ ones are: each local one has its own, and
// those at namespace scope have one for all. Code that uses such a variable reads it first.
bool is_guard_variable(const void* address);

// Places in the program, as 32-bit numbers: of an instrumented instruction its offset in the
// program, of an atomic the place of the call that the backend passes on.
using place_number = std::uint32_t;

// The place of the instruction before `return_address`.
place_number place_of(const void* return_address);
place_number place_of(const cpu_backend::place& at);
// The place of the student's own call among these; 0 if there is none.
place_number place_of(const cpu_backend::call_stack& calls);
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
// "stream NAME", as the line that made it names it, or else by its number, from 1; 0: "the default
// stream".
std::string stream_name(unsigned number);
// The program's function at `address`, with its parameters; empty if unknown.
std::string find_function(const void* address);
// The name of a function as a reader writes it: without parameters, the type that it returns and
// unnamed namespaces.
std::string short_name(const std::string& function);

// Places of accesses in fewer bits than a place_number has: numbered as kernels come to them.
// 0 if the numbers are used up.
place_index index_of_place(place_number place);
// The same of the instruction before `return_address`.
place_index index_of_place(const void* return_address);

// 0 if unknown.
place_number place_at(place_index number);

}  // namespace racecheck
