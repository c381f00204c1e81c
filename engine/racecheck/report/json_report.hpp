// SPDX-License-Identifier: MIT
// The report for programs: engine/command reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "racecheck/counts/host_counts.hpp"
#include "racecheck/counts/launch_counts.hpp"
#include "racecheck/report/located_finding.hpp"

namespace racecheck {

// What a report says of the whole run.
struct run_summary {
  std::uint64_t seed = 0;
  std::uint64_t launches = 0;
  std::uint64_t failed_launches = 0;
  bool ended_in_kernel = false;
  bool ended_by_time = false;
  std::uint64_t accesses = 0;
  std::uint64_t forgotten_reads = 0;
  bool is_interim = false;  // made while the program runs, when a launch has ended
};

struct run_counts {
  std::vector<launch_counts> launches;
  // Whether these are only the ones that changed memory by stores that nobody saw.
  bool only_unseen = false;
  host_counts host;
};

// Writes the whole file or none; "&0" is no file but descriptor 0, which whoever started the
// program has opened. Returns whether it could be written. Without findings if no races were looked
// for, and without counts if nothing was counted: nullptr.
bool write_json_report(const std::string& path, const run_summary& of,
                       const std::vector<located_finding>* findings, const run_counts* counts);

}  // namespace racecheck
