// SPDX-License-Identifier: MIT
#include "racecheck/report/json_report.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "racecheck/report/drawn_chain.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/launch_counts_json.hpp"

namespace racecheck {
namespace {

using json = nlohmann::ordered_json;

const char* kind_of(mistake what) {
  switch (what) {
    case mistake::race:
      return "race";
    case mistake::unwritten_read:
      return "unwritten";
    default:
      return "outside";
  }
}

json json_of(const uint3& index) { return {index.x, index.y, index.z}; }

json json_of(const party& of, const source_line& at) {
  return {{"access", verb_of(of)},
          {"block", json_of(of.block_index)},
          {"thread", json_of(of.thread_index)},
          {"file", at.file},
          {"line", at.line},
          {"text", at.text}};
}

json json_of(const drawn_chain& chain) {
  json made = {{"lanes", json::array()}, {"events", json::array()}, {"arrows", json::array()}};
  for (const drawn_chain::lane& each : chain.lanes) {
    made["lanes"].push_back(
        {{"roles", each.roles}, {"block", json_of(each.block)}, {"thread", json_of(each.thread)}});
  }
  for (const drawn_chain::event& each : chain.events) {
    made["events"].push_back({{"lane", each.lane},
                              {"kind", each.kind},
                              {"does", each.does},
                              {"file", each.at.file},
                              {"line", each.at.line},
                              {"text", each.at.text}});
  }
  for (const drawn_chain::arrow& each : chain.arrows) {
    json lacks = json::array();
    for (const auto& [name, remedy] : each.lacks) {
      lacks.push_back({{"name", name}, {"remedy", remedy}});
    }
    made["arrows"].push_back({{"kind", each.kind},
                              {"from", each.from},
                              {"to", each.to},
                              {"updates_between", each.updates_between},
                              {"lacks", lacks}});
  }
  return made;
}

json json_of(const located_finding& located) {
  const finding& found = located.found;
  json made = {
      {"kind", kind_of(found.what)},      {"severity", found.is_strict() ? "strict" : "error"},
      {"memory", found.memory},           {"object", found.object},
      {"diagnosis", diagnosis_of(found)}, {"count", found.count}};
  if (found.what == mistake::race) made["first"] = json_of(found.first, located.first);
  made["second"] = json_of(found.second, located.second);
  if (found.element_of_dynamic_memory) {
    made["element_of_dynamic_memory"] = *found.element_of_dynamic_memory;
  }
  made["text"] = text_of(located);
  if (found.what == mistake::race) made["chain"] = json_of(chain_of(located));
  return made;
}

}  // namespace

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
