// SPDX-License-Identifier: MIT
// The names that the linker kept in the running program's file.
#pragma once

#include <cstdint>
#include <string>

namespace racecheck {

enum class symbol_kind { function, variable };

// What the program has at an offset from its begin. Empty name: nothing of that kind.
struct program_symbol {
  std::string name;  // as it is written in C++; a function's with its parameters
  std::uint64_t begin = 0, bytes = 0;
};
program_symbol symbol_at(std::uint64_t offset, symbol_kind kind);

// Whether the function there is the program's own: none of the standard library's, which the
// backend may have called, of the backend's or of the checker's.
bool is_in_own_function(const void* address);

// Whether `address` is a variable in which the program's compiler notes that this OS thread has
// constructed its thread-local variables, as __shared__ ones are: of local ones each has its own,
// and those at namespace scope have one for all. Code that uses such a variable looks there first.
bool is_guard_variable(const void* address);

}  // namespace racecheck
