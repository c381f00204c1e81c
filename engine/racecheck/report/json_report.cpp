// SPDX-License-Identifier: MIT
#include "racecheck/report/json_report.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "racecheck/report/finding_json.hpp"
#include "racecheck/report/launch_counts_json.hpp"

namespace racecheck {

using json = nlohmann::ordered_json;

bool write_json_report(const std::string& path, const run_summary& of,
                       const std::vector<located_finding>* findings,
                       const std::vector<launch_counts>* counts) {
  json report = {{"seed", of.seed},
                 {"launches", of.launches},
                 {"failed_launches", of.failed_launches},
                 {"ended_in_kernel", of.ended_in_kernel},
                 {"ended_by_time", of.ended_by_time},
                 {"accesses", of.accesses},
                 {"forgotten_reads", of.forgotten_reads},
                 {"why_lines_are_missing", cpu_backend::why_lines_are_missing()}};
  if (findings) {
    report["findings"] = json::array();
    for (const located_finding& each : *findings) report["findings"].push_back(json_of(each));
  }
  if (counts) report["launch_counts"] = json_of(*counts);
  const std::string temporary = path + ".temporary";
  std::ofstream out(temporary);
  // A line of the source may hold bytes that are no UTF-8.
  out << report.dump(1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
  return out && std::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace racecheck
