// SPDX-License-Identifier: MIT
// What the JSON report says of the launches that were counted.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "racecheck/counts/launch_counts.hpp"

namespace racecheck {

// A list with one entry for each launch: docs/internals/racecheck.md has the keys.
nlohmann::ordered_json json_of(const std::vector<launch_counts>& launches);

}  // namespace racecheck
