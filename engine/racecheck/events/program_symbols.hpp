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

}  // namespace racecheck
