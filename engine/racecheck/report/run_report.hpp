// SPDX-License-Identifier: MIT
// What a run says at its end: the report for programs, which engine/command reads, and the weak
// form's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "racecheck/events/counts.hpp"
#include "racecheck/memory/weak_memory.hpp"
#include "racecheck/races/finding.hpp"

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

// Not by stdio: a thread that a signal ends may hold the lock of its stream. Returns whether it
// could be written.
bool write_descriptor(int descriptor, const std::string& text);

struct run_counts {
  std::vector<launch_counts> launches;
  // Whether these are only the ones that changed memory by stores that were not seen.
  bool only_unseen = false;
  host_counts host;
};

// Writes the whole file or none; "&0" is no file but descriptor 0, which the program that
// started this one has opened. Returns whether it could be written. Without findings if no races
// were looked for, and without counts if nothing was counted: nullptr.
bool write_json_report(const std::string& path, const run_summary& of,
                       const std::vector<finding>* findings, const run_counts* counts);

// What a run in the weak form says: how many reads got an old value, and on how many lines. Before
// that, if there are findings, the first such read of each pair of lines, with its race as it is
// among them. `older_loads`: how many atomic and volatile loads got an older value, which is no
// mistake. Without a last newline.
std::string weak_report(const stale_reads& stale, std::uint64_t older_loads,
                        const std::vector<finding>* findings);

}  // namespace racecheck
