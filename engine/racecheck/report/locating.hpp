// SPDX-License-Identifier: MIT
// Findings get the lines of their places, and what these lines say.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "racecheck/races/finding.hpp"

namespace racecheck {

// The findings of a run with this seed get their lines, and are merged by them. Asks the compiler
// for all lines at once. Where both lines update the element by plain accesses, the diagnosis says
// so.
std::vector<finding> locate(std::vector<finding> all, const std::set<plain_update>& plain_updates,
                            std::uint64_t seed);

// The chain of a race, whose accesses and steps have their lines: drawn_chain.cpp makes it. At
// least one of the arrows lacks something.
drawn_chain chain_of(const finding& of);

}  // namespace racecheck
