// SPDX-License-Identifier: MIT
// The JSON files that programs write.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <vector>

#include "lab/output_files.hpp"
#include "lab/program.hpp"
#include "lab/timing.hpp"
#include "lab/work_trace.hpp"

#ifdef LAB_HAS_JSON
#include <nlohmann/json.hpp>
#include "lab/json_lines.hpp"
#endif

namespace lab {

#ifdef LAB_HAS_JSON

namespace {

using json = nlohmann::ordered_json;

constexpr int digits = 6;

// Text that is not UTF-8, in a device's name perhaps, must not cost the user the file.
std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class T>
json value_or_null(const T& value, bool is_there) {
  return is_there ? json(value) : json(nullptr);
}

std::uint32_t rows_a_multiprocessor(const work_trace& run,
                                    const std::vector<recorded_item>& items) {
  std::uint32_t rows = run.slots;
  for (const recorded_item& each : items) rows = std::max(rows, each.slot + 1);
  return rows;
}

// The events of one variant's process.
void add_events(const work_trace& run, std::size_t process, json& events) {
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", run.variant}}}});
  const std::vector<recorded_item> items = recorded_items(run);
  const std::uint32_t slots = rows_a_multiprocessor(run, items);
  // From nanoseconds.
  const auto microseconds = [](std::uint64_t time) { return static_cast<double>(time) / 1000; };
  std::set<std::uint64_t> named_rows;
  for (const recorded_item& each : items) {
    const trace_event& event = each.event;
    const std::uint64_t row = std::uint64_t{event.multiprocessor} * slots + each.slot;
    if (named_rows.insert(row).second) {
      std::string name = "SM " + std::to_string(event.multiprocessor);
      if (slots > 1) name += ", slot " + std::to_string(each.slot);
      const auto about_row = [&](const char* what, json args) {
        events.push_back({{"name", what},
                          {"ph", "M"},
                          {"pid", process},
                          {"tid", row},
                          {"args", std::move(args)}});
      };
      about_row("thread_name", {{"name", name}});
      about_row("thread_sort_index", {{"sort_index", row}});
    }
    events.push_back({{"name", "item " + std::to_string(each.item)},
                      {"cat", "item"},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", row},
                      {"ts", microseconds(event.begin_ns - items.front().event.begin_ns)},
                      {"dur", microseconds(event.end_ns - event.begin_ns)},
                      {"args", {{"block", event.block}}}});
  }
}

}  // namespace

std::string why_no_json() { return ""; }

double rounded(double value, int significant_digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", significant_digits, value);
  return std::strtod(text, nullptr);
}

std::string json_lines(const json& object) {
  std::string text = "{";
  const char* separator = "\n  ";
  for (const auto& [name, value] : object.items()) {
    text += separator + text_of(name) + ": ";
    separator = ",\n  ";
    if (!value.is_array() || value.empty()) {
      text += text_of(value);
      continue;
    }
    const char* before = "[\n    ";
    for (const json& element : value) {
      text += before + text_of(element);
      before = ",\n    ";
    }
    text += "\n  ]";
  }
  return text + "\n}\n";
}

std::string program_results::json() const {
  nlohmann::ordered_json chosen = {
      {"elements", options_.elements},
      {"threads", options_.threads},
      {"blocks", value_or_null(options_.blocks.value_or(0), options_.blocks.has_value())},
      {"repeat", options_.repeat},
      {"seed", options_.seed},
      {"variant", value_or_null(options_.variant, !options_.variant.empty())}};
  for (const auto& [option, value] : options_.numbers) chosen[option.substr(2)] = value;
  for (const auto& [option, value] : options_.choices) chosen[option.substr(2)] = value;

  auto comparisons = nlohmann::ordered_json::array();
  for (const comparison& each : comparisons_) {
    comparisons.push_back({{"label", each.label},
                           {"got", each.got},
                           {"expected", each.expected},
                           {"right", each.got == each.expected}});
  }
  auto rows = nlohmann::ordered_json::array();
  for (const measurement& row : rows_) {
    rows.push_back({{"variant", row.variant},
                    {"blocks", row.blocks},
                    {"threads", row.threads},
                    {"median_ms", rounded(row.time.median_ms, digits)},
                    {"minimum_ms", rounded(row.time.minimum_ms, digits)},
                    {"maximum_ms", rounded(row.time.maximum_ms, digits)},
                    {"runs", row.time.runs},
                    {"calls_in_a_row", row.time.calls_in_a_row},
                    {"bytes", row.bytes},
                    {"gigabytes_per_second",
                     rounded(gigabytes_per_second(row.bytes, row.time.median_ms), digits)},
                    {"right", !row.wrong},
                    {"wrong", value_or_null(row.wrong.value_or(""), row.wrong.has_value())}});
  }
  auto traces = nlohmann::ordered_json::array();
  for (const traced_variant& run : traces_) {
    traces.push_back({{"variant", run.variant},
                      {"items", run.items},
                      {"makespan_ms", rounded(run.makespan_ms, digits)},
                      {"busy_fraction", rounded(run.busy_fraction, digits)}});
  }
  return json_lines(
      {{"program", program_.name},
       {"device",
        {{"name", device_.name},
         {"multiprocessors", device_.multiprocessors},
         {"compute_capability", std::to_string(device_.compute_capability_major) + "." +
                                    std::to_string(device_.compute_capability_minor)}}},
       {"options", chosen},
       {"comparisons", comparisons},
       {"rows", rows},
       {"notes", notes_},
       {"schedules", traces},
       {"right", right()}});
}

std::string chrome_trace(const std::vector<work_trace>& runs) {
  json events = json::array();
  for (std::size_t variant = 0; variant < runs.size(); ++variant) {
    add_events(runs[variant], variant, events);
  }
  json traces = json::array();
  for (const work_trace& run : runs) {
    traces.push_back({{"variant", run.variant},
                      {"multiprocessors", run.multiprocessors},
                      {"rows_a_multiprocessor", rows_a_multiprocessor(run, recorded_items(run))},
                      {"makespan_ms", makespan_ms(run)},
                      {"busy_fraction", rounded(busy_fraction(run), digits)}});
  }
  return json_lines(
      {{"displayTimeUnit", "ms"}, {"traceEvents", events}, {"otherData", {{"schedules", traces}}}});
}

#else  // Nothing calls the last two: the command line refuses their files.

std::string why_no_json() { return "this build has no nlohmann_json"; }

std::string program_results::json() const { throw std::logic_error(why_no_json()); }

std::string chrome_trace(const std::vector<work_trace>&) { throw std::logic_error(why_no_json()); }

#endif

}  // namespace lab
