// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/shadow.hpp"

namespace racecheck {

// One cell's share of an access.
struct cell_access {
  region& in;
  cell& checked;
  const std::byte* address;
  cell_record record;  // what is remembered of it
  unsigned mask;       // the cell's bytes
  // Of the whole access.
  const std::byte* begin;
  std::size_t bytes;
};

}  // namespace racecheck
