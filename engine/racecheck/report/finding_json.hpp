// SPDX-License-Identifier: MIT
// The record of a finding as JSON, in both directions. docs/internals/racecheck.md has the keys.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "racecheck/races/finding.hpp"
#include "racecheck/report/finding_text.hpp"

namespace racecheck {

// What was read is no record of a finding, as the checker writes them.
struct malformed_record : std::runtime_error {
  using std::runtime_error::runtime_error;
};

nlohmann::ordered_json json_of(finding of, const own_file& own = {});

// The same with what was merged into it, in a report on so many schedules.
nlohmann::ordered_json json_of(const element_findings& of, std::uint64_t schedules,
                               const own_file& own);

// What json_of() has made of a finding in a run with that seed; its texts are not read, but made
// anew. Throws malformed_record.
finding finding_of(const nlohmann::ordered_json& record, std::uint64_t seed);

// The whole number of 0 or more that `object` has at `key`. Throws malformed_record.
std::uint64_t number_at(const nlohmann::ordered_json& object, const char* key);
// The list that it has there. Throws malformed_record.
const nlohmann::ordered_json& list_at(const nlohmann::ordered_json& object, const char* key);

}  // namespace racecheck
