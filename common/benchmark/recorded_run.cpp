// SPDX-License-Identifier: MIT
#include "benchmark/recorded_run.hpp"

#include <nlohmann/json.hpp>

#include "benchmark/recorded_run_names.hpp"
#include "lab/json_lines.hpp"

namespace benchmarks {

namespace {

using json = nlohmann::ordered_json;
namespace key = recorded_run_names;

double number(double value) {
  constexpr int digits = 9;  // Finer than any measurement here.
  return lab::rounded(value, digits);
}

const char* name_of(role part) {
  switch (part) {
    case role::variant:
      return "variant";
    case role::peer:
      return "peer";
    case role::ceiling:
      return "ceiling";
    default:
      return "floor";
  }
}

void add_time(const lab::timing& time, json& to) {
  to[key::median_ms] = number(time.median_ms);
  to[key::lower_quartile_ms] = number(time.lower_quartile_ms);
  to[key::upper_quartile_ms] = number(time.upper_quartile_ms);
  to[key::minimum_ms] = number(time.minimum_ms);
  to[key::maximum_ms] = number(time.maximum_ms);
  to[key::rounds] = time.runs;
  to[key::calls_in_a_row] = time.calls_in_a_row;
}

json json_of(const std::vector<time_ratio>& ratios) {
  json all = json::array();
  for (const time_ratio& each : ratios) {
    all.push_back({{key::to, each.to},
                   {key::median, number(each.median)},
                   {key::lower_quartile, number(each.lower_quartile)},
                   {key::upper_quartile, number(each.upper_quartile)}});
  }
  return all;
}

json json_of(const recorded_row& row) {
  json object = {{key::chapter, row.description.chapter},
                 {key::task, row.description.task},
                 {key::type, row.description.type},
                 {key::elements, row.description.elements}};
  if (row.description.threads) object[key::threads] = *row.description.threads;
  if (row.description.block) object[key::block] = *row.description.block;
  object[key::data] = row.description.data;
  object[key::inputs] = row.description.inputs;
  object[key::name] = row.row.name;
  object[key::part] = name_of(row.row.part);
  object[key::bytes] = row.row.bytes;
  add_time(row.row.time, object);
  object[key::ratios] = json_of(row.row.ratios);
  return object;
}

// The CPU backend's own benchmark knows the first two alone.
json json_of(const device_facts& device) {
  json object = {{key::name, device.name}, {key::multiprocessors, device.multiprocessors}};
  if (device.compute_capability.empty()) return object;
  const double peak = device.theoretical_gigabytes_per_second;
  object[key::compute_capability] = device.compute_capability;
  object[key::memory_bytes] = device.memory_bytes;
  object[key::cache_bytes] = device.cache_bytes;
  object[key::theoretical_gigabytes_per_second] = peak > 0 ? json(number(peak)) : json(nullptr);
  return object;
}

}  // namespace

std::string json_of(const recorded_run& run) {
  json object = {{key::format, key::format_number}, {key::device, json_of(run.device)}};
  if (!run.device.cuda_runtime.empty()) {
    object[key::cuda_runtime] = run.device.cuda_runtime;
    object[key::cuda_driver] = run.device.cuda_driver;
  }
  object[key::rounds] = run.rounds;
  if (run.copy) {
    json& copy = object[key::copy];
    copy = {{key::elements, run.copy->elements}, {key::bytes, run.copy->row.bytes}};
    add_time(run.copy->row.time, copy);
  }
  json& missing = object[key::not_run] = json::array();
  for (const not_run& each : run.missing) {
    missing.push_back({{key::chapter, each.chapter},
                       {key::task, each.task},
                       {key::name, each.name},
                       {key::reason, each.reason}});
  }
  json& rows = object[key::rows] = json::array();
  for (const recorded_row& each : run.rows) rows.push_back(json_of(each));
  return lab::json_lines(object);
}

}  // namespace benchmarks
