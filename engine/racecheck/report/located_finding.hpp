// SPDX-License-Identifier: MIT
// The record of a finding: with its places as lines of the source, and the schedules that show it.
// The JSON file has all of it (finding_json.hpp), and all text is made from it (finding_text.hpp).
#pragma once

#include <cstdint>
#include <set>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/report/drawn_chain.hpp"

namespace racecheck {

struct located_finding {
  racecheck::finding finding;  // read from a JSON file, it has no place numbers and no steps
  source_line first;
  source_line second;
  source_line releaser;
  source_line acquirer;
  source_line older_load;
  source_line cause;
  drawn_chain chain;  // of a race
  // Threads of different blocks race at these lines, too, and nothing orders them.
  bool also_between_blocks = false;
  std::uint64_t seed = 0;         // of the schedule that has this very pair of accesses
  std::set<std::uint64_t> seeds;  // of all that have a finding of this diagnosis at these lines
};

}  // namespace racecheck
