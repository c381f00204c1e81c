// SPDX-License-Identifier: MIT
// What a run in the weak form says at its end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "racecheck/report/located_finding.hpp"
#include "racecheck/weak/stale_reads.hpp"

namespace racecheck {

// How many reads got an old value, and on how many lines. Before that, if there are findings, the
// first such read of each pair of lines, with its race as it is among them. `older_loads`: how many
// atomic and volatile loads got an older value, which is no mistake. Without a last newline.
std::string weak_report(const stale_reads& stale, std::uint64_t older_loads,
                        const std::vector<located_finding>* findings);

}  // namespace racecheck
