// SPDX-License-Identifier: MIT
// From what the checker has found to the record of each finding.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "racecheck/report/located_finding.hpp"

namespace racecheck {

// Those of a run with this seed, merged by their lines. Asks the compiler for all lines at once.
// Where both lines update the element by plain accesses, the diagnosis says so.
std::vector<located_finding> locate(const std::vector<finding>& findings,
                                    const std::set<plain_update>& plain_updates,
                                    std::uint64_t seed);

}  // namespace racecheck
