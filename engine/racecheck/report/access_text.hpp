// SPDX-License-Identifier: MIT
// Threads, accesses and places in a student's words.
#pragma once

#include <string>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding.hpp"
#include "vector_types.h"

namespace racecheck {

// "block 3", or "block (3,1,0)".
std::string index_text(const char* what, const uint3& index);

// "block 3 thread 17", or "block (3,1,0) thread (1,0,2)".
std::string thread_text(const uint3& block, const uint3& thread);

// What was done to the variable: "read", "updated atomically at block scope", ...
std::string verb_of(const party& of);
// What the thread does, "updates", and how: "atomically at block scope", "(volatile)" or nothing.
std::string doing_of(const party& of);
std::string manner_of(const party& of);

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

}  // namespace racecheck
