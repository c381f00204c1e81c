// SPDX-License-Identifier: MIT
#include "benchmark/results.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ostream>
#include <stdexcept>

#include "lab/output_files.hpp"
#include "lab/program.hpp"

#ifdef LAB_HAS_JSON
#include <nlohmann/json.hpp>
#include "lab/json_lines.hpp"
#endif

namespace benchmarks {

namespace {

constexpr int name_width = 34;

double gigabytes_per_second(const comparison_row& row) {
  return lab::gigabytes_per_second(row.bytes, row.time.median_ms);
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// "2^20" for powers of two from 2^10 on, else the number.
std::string size_text(std::uint64_t elements) {
  if (std::has_single_bit(elements) && elements >= 1024) {
    return "2^" + std::to_string(std::countr_zero(elements));
  }
  return lab::with_separators(static_cast<std::int64_t>(elements));
}

// The fastest peer, with which the text compares; the JSON has all.
std::string fastest_peer(const std::vector<comparison_row>& rows) {
  const comparison_row* fastest = nullptr;
  for (const comparison_row& row : rows) {
    if (row.part != role::peer) continue;
    if (fastest == nullptr || row.time.median_ms < fastest->time.median_ms) fastest = &row;
  }
  return fastest == nullptr ? "" : fastest->name;
}

}  // namespace

results::results(const device_facts& device, std::uint32_t rounds, std::ostream& out)
    : run_{.device = device, .rounds = rounds}, out_(out) {
  out_ << "device: " << run_.device.name << ", " << run_.device.multiprocessors << " SMs, "
       << formatted("%.1f MB", static_cast<double>(run_.device.cache_bytes) / 1e6)
       << " of last-level cache, CUDA " << run_.device.cuda_runtime << '\n';
  if (!run_.device.cccl.empty()) {
    out_ << "libraries: CCCL " << run_.device.cccl
         << (run_.device.cublas.empty() ? "" : ", cuBLAS " + run_.device.cublas) << '\n';
  }
  if (run_.device.theoretical_gigabytes_per_second > 0) {
    out_ << "memory: " << formatted("%.0f", run_.device.theoretical_gigabytes_per_second)
         << " GB/s by its clock and its bus\n";
  }
  out_ << "rounds: " << run_.rounds << '\n' << std::flush;
}

void results::set_copy(std::uint64_t elements, const comparison_row& row) {
  run_.copy = {.elements = elements, .row = row};
  out_ << "copy from device to device, " << size_text(elements)
       << " floats: " << formatted("%.1f", gigabytes_per_second(row)) << " GB/s\n"
       << std::flush;
}

double results::share_of_copy(const comparison_row& row) const {
  const double copy = run_.copy ? gigabytes_per_second(run_.copy->row) : 0;
  return copy > 0 ? gigabytes_per_second(row) / copy : 0;
}

void results::print_row(const comparison_row& row, const std::string& compared_with) {
  char text[256];
  std::snprintf(text, sizeof text, "%-*s %11.3f %11.3f %11.3f", name_width, row.name.c_str(),
                row.time.median_ms * 1e3, row.time.lower_quartile_ms * 1e3,
                row.time.upper_quartile_ms * 1e3);
  out_ << text;
  if (row.bytes > 0) {
    std::snprintf(text, sizeof text, " %8.1f %7.1f%%", gigabytes_per_second(row),
                  100 * share_of_copy(row));
    out_ << text;
    if (run_.device.theoretical_gigabytes_per_second > 0) {
      std::snprintf(text, sizeof text, " %7.1f%%",
                    100 * gigabytes_per_second(row) / run_.device.theoretical_gigabytes_per_second);
      out_ << text;
    }
  }
  for (const time_ratio& each : row.ratios) {
    if (each.to != compared_with) continue;
    std::snprintf(text, sizeof text, "  %.3f (%.3f to %.3f) of %s", each.median,
                  each.lower_quartile, each.upper_quartile, each.to.c_str());
    out_ << text;
  }
  out_ << '\n';
}

void results::add(const comparison_description& of, const comparison_result& result) {
  ++comparisons_;
  wrong_ += result.wrong.size();
  for (const comparison_row& row : result.rows)
    run_.rows.push_back({.description = of, .row = row});
  out_ << '\n'
       << of.chapter << ' ' << of.task << " of " << of.type << ", " << size_text(of.elements)
       << " elements";
  // Pictures have no input.
  if (of.data != "none") out_ << " from " << of.data << ", inputs in turn: " << of.inputs;
  out_ << '\n';
  char heading[256];
  std::snprintf(heading, sizeof heading, "%-*s %11s %11s %11s %8s %8s%s  %s\n", name_width, "",
                "median us", "quartile", "quartile", "GB/s", "of copy",
                run_.device.theoretical_gigabytes_per_second > 0 ? "  of peak" : "", "time");
  out_ << heading;
  const std::string compared_with = fastest_peer(result.rows);
  for (const comparison_row& row : result.rows) print_row(row, compared_with);
  for (const wrong_result& each : result.wrong) {
    out_ << each.name << " is WRONG: " << each.what << '\n';
  }
  out_ << std::flush;
}

void results::add_not_run(const std::string& chapter, const std::string& task,
                          const std::string& name, const std::string& reason) {
  for (const not_run& each : run_.missing) {
    if (each.chapter == chapter && each.task == task && each.name == name &&
        each.reason == reason) {
      return;
    }
  }
  run_.missing.push_back({chapter, task, name, reason});
  out_ << '\n' << chapter << ' ' << task << ": no " << name << ": " << reason << '\n' << std::flush;
}

void results::finish() {
  out_ << '\n';
  if (wrong_ > 0) {
    out_ << wrong_ << " results are WRONG\n";
  } else {
    out_ << "all results of " << run_.rows.size() << " rows are right\n";
  }
  out_ << std::flush;
}

bool results::right() const { return comparisons_ > 0 && wrong_ == 0; }

#ifdef LAB_HAS_JSON

namespace {

using json = nlohmann::ordered_json;
constexpr int format = 1;  // That of recorded_run.schema.json.

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
  to["median_ms"] = number(time.median_ms);
  to["lower_quartile_ms"] = number(time.lower_quartile_ms);
  to["upper_quartile_ms"] = number(time.upper_quartile_ms);
  to["minimum_ms"] = number(time.minimum_ms);
  to["maximum_ms"] = number(time.maximum_ms);
  to["rounds"] = time.runs;
  to["calls_in_a_row"] = time.calls_in_a_row;
}

json json_of(const std::vector<time_ratio>& ratios) {
  json all = json::array();
  for (const time_ratio& each : ratios) {
    all.push_back({{"to", each.to},
                   {"median", number(each.median)},
                   {"lower_quartile", number(each.lower_quartile)},
                   {"upper_quartile", number(each.upper_quartile)}});
  }
  return all;
}

json json_of(const recorded_row& row) {
  json object = {{"chapter", row.description.chapter},
                 {"task", row.description.task},
                 {"type", row.description.type},
                 {"elements", row.description.elements}};
  if (row.description.threads) object["threads"] = *row.description.threads;
  if (row.description.block) object["block"] = *row.description.block;
  object["data"] = row.description.data;
  object["inputs"] = row.description.inputs;
  object["name"] = row.row.name;
  object["part"] = name_of(row.row.part);
  object["bytes"] = row.row.bytes;
  add_time(row.row.time, object);
  object["ratios"] = json_of(row.row.ratios);
  return object;
}

// The CPU backend's own benchmark knows the first two alone.
json json_of(const device_facts& device) {
  json object = {{"name", device.name}, {"multiprocessors", device.multiprocessors}};
  if (device.compute_capability.empty()) return object;
  const double peak = device.theoretical_gigabytes_per_second;
  object["compute_capability"] = device.compute_capability;
  object["memory_bytes"] = device.memory_bytes;
  object["cache_bytes"] = device.cache_bytes;
  object["theoretical_gigabytes_per_second"] = peak > 0 ? json(number(peak)) : json(nullptr);
  return object;
}

}  // namespace

std::string json_of(const recorded_run& run) {
  json object = {{"format", format}, {"device", json_of(run.device)}};
  if (!run.device.cuda_runtime.empty()) {
    object["cuda_runtime"] = run.device.cuda_runtime;
    object["cuda_driver"] = run.device.cuda_driver;
  }
  if (!run.device.cccl.empty()) object["cccl"] = run.device.cccl;
  if (!run.device.cublas.empty()) object["cublas"] = run.device.cublas;
  object["rounds"] = run.rounds;
  if (run.copy) {
    json& copy = object["copy"];
    copy = {{"elements", run.copy->elements}, {"bytes", run.copy->row.bytes}};
    add_time(run.copy->row.time, copy);
  }
  json& missing = object["not_run"] = json::array();
  for (const not_run& each : run.missing) {
    missing.push_back({{"chapter", each.chapter},
                       {"task", each.task},
                       {"name", each.name},
                       {"reason", each.reason}});
  }
  json& rows = object["rows"] = json::array();
  for (const recorded_row& each : run.rows) rows.push_back(json_of(each));
  return lab::json_lines(object);
}

#else  // The command line refuses --json.

std::string json_of(const recorded_run&) { throw std::logic_error(lab::why_no_json()); }

#endif

}  // namespace benchmarks
