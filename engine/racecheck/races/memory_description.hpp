// SPDX-License-Identifier: MIT
// Names for a piece of memory that a finding is about.
#pragma once

#include <cstddef>
#include <string>

#include "racecheck/memory/shadow.hpp"
#include "racecheck/races/finding.hpp"

namespace racecheck {

// "global memory", ...
std::string describe_memory(const region& in);
struct described_object {
  std::string text;  // "element 17 of ..."
  element_name element;
};
// `address` lies in the region.
described_object describe_object(const region& in, const std::byte* address,
                                 std::size_t access_bytes);
// How far before its begin or past its end; an access next to the region, or that ends past it.
std::string describe_outside(const region& near, const std::byte* address,
                             std::size_t access_bytes);

}  // namespace racecheck
