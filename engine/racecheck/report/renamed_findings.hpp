// SPDX-License-Identifier: MIT
// Diagnoses that only the findings of all runs together tell.
#pragma once

#include <vector>

#include "racecheck/report/located_finding.hpp"

namespace racecheck {

// Gives findings of the same lines the diagnosis that one of them shows: an update over two lines,
// a barrier of the whole block, and what a plain flag lets through without its lock.
void rename_findings(std::vector<located_finding>& all);

}  // namespace racecheck
