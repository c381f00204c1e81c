// SPDX-License-Identifier: MIT
#include "racecheck/report/json_report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "racecheck/events/places.hpp"
#include "racecheck/report/finding_json.hpp"

namespace racecheck {
namespace {

using json = nlohmann::ordered_json;

struct event_name {
  event what;
  const char* key;
};
constexpr event_name event_names[] = {
    {event::global_load, "global_loads"},
    {event::global_store, "global_stores"},
    {event::global_atomic, "global_atomics"},
    {event::shared_load, "shared_loads"},
    {event::shared_store, "shared_stores"},
    {event::shared_atomic, "shared_atomics"},
    {event::fence, "fences"},
};

struct block_number_name {
  std::uint64_t group_counts::*which;
  const char* key;
};
constexpr block_number_name block_number_names[] = {
    {&group_counts::global_bytes_loaded, "global_bytes_loaded"},
    {&group_counts::global_bytes_stored, "global_bytes_stored"},
    {&group_counts::block_barriers, "block_barriers"},
    {&group_counts::warp_barriers, "warp_barriers"},
    {&group_counts::grid_barriers, "grid_barriers"},
};

// The name of a function as a reader writes it: without parameters, the type that it returns and
// unnamed namespaces.
std::string short_name(const std::string& function) {
  constexpr std::string_view unnamed = "(anonymous namespace)::";
  std::string name = function;
  for (std::size_t at; (at = name.find(unnamed)) != std::string::npos;) {
    name.erase(at, unnamed.size());
  }
  // Outside of the template's arguments, which may have spaces and parentheses of their own.
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth != 0) continue;
    if (name[i] == ' ') begin = i + 1;
    if (name[i] == '(') {
      name.resize(i);
      break;
    }
  }
  return name.substr(begin);
}

json json_of(const dim3& size) { return {size.x, size.y, size.z}; }

json json_of(const launch_counts& counts) {
  const cpu_backend::source_line at = cpu_backend::make_source_line(
      counts.launch.called_from.file(), counts.launch.called_from.line());
  json made = {
      {"kernel", counts.launch.kernel ? short_name(find_function(counts.launch.kernel)) : ""},
      {"file", at.file},
      {"line", at.line},
      {"blocks", json_of(counts.launch.blocks)},
      {"threads", json_of(counts.launch.threads)},
      {"completed", counts.completed},
      {"blocks_begun", counts.blocks_begun},
      {"static_shared_bytes", counts.static_shared_bytes},
      {"dynamic_shared_bytes", counts.dynamic_shared_bytes}};
  if (!counts.loaded.empty()) made["loaded"] = counts.loaded;
  if (counts.unseen_bytes_stored) made["unseen_bytes_stored"] = *counts.unseen_bytes_stored;
  for (const event_name& each : event_names) {
    made[each.key] = {{"total", counts.total.events[each.what]},
                      {"most_per_block", counts.most_per_block.events[each.what]},
                      {"most_per_thread", counts.most_per_thread[each.what]}};
  }
  for (const block_number_name& each : block_number_names) {
    made[each.key] = {{"total", counts.total.*each.which},
                      {"most_per_block", counts.most_per_block.*each.which}};
  }
  return made;
}

bool write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".temporary";
  std::ofstream out(temporary);
  out << text << std::flush;
  return out && std::rename(temporary.c_str(), path.c_str()) == 0;
}

bool write_descriptor(int descriptor, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t size = write(descriptor, text.data() + written, text.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    written += static_cast<std::size_t>(size);
  }
  return true;
}

// A list with one entry for each launch: docs/internals/racecheck.md has the keys.
json json_of(const std::vector<launch_counts>& launches) {
  json made = json::array();
  for (const launch_counts& each : launches) made.push_back(json_of(each));
  return made;
}

}  // namespace

bool write_json_report(const std::string& path, const run_summary& of,
                       const std::vector<located_finding>* findings, const run_counts* counts) {
  json report = {{"seed", of.seed},
                 {"launches", of.launches},
                 {"failed_launches", of.failed_launches},
                 {"ended_in_kernel", of.ended_in_kernel},
                 {"ended_by_time", of.ended_by_time},
                 {"accesses", of.accesses},
                 {"forgotten_reads", of.forgotten_reads},
                 {"why_lines_are_missing", cpu_backend::why_lines_are_missing()}};
  if (of.is_interim) report["is_interim"] = true;
  if (findings) {
    report["findings"] = json::array();
    for (const located_finding& each : *findings) report["findings"].push_back(json_of(each));
  }
  if (counts && counts->only_unseen) {
    report["unseen_stores"] = json_of(counts->launches);
  } else if (counts) {
    report["launch_counts"] = json_of(counts->launches);
    report["runtime_calls"] = counts->host.runtime_calls;
    report["number_of_runtime_calls"] = counts->host.number_of_runtime_calls;
    report["unfreed_allocations"] = counts->host.unfreed_allocations;
  }
  // A line of the source may hold bytes that are no UTF-8.
  const std::string text = report.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  if (path.starts_with('&')) return write_descriptor(std::atoi(path.c_str() + 1), text);
  return write_file(path, text);
}

}  // namespace racecheck
