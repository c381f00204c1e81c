// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ostream>
#include <sstream>

#include "lab/json_text.hpp"
#include "lab/report.hpp"

namespace benchmarks {

namespace {

constexpr int name_width = 32;

double gigabytes_per_second(const contest_row& row) {
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
std::string fastest_peer(const std::vector<contest_row>& rows) {
  const contest_row* fastest = nullptr;
  for (const contest_row& row : rows) {
    if (row.part != role::peer) continue;
    if (fastest == nullptr || row.time.median_ms < fastest->time.median_ms) fastest = &row;
  }
  return fastest == nullptr ? "" : fastest->name;
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

// JSON has no infinity; a number of nine digits is finer than any measurement here.
std::string number(double value) { return formatted("%.9g", value); }

std::string json_of(const lab::timing& time) {
  return "\"median_ms\": " + number(time.median_ms) +
         ", \"lower_quartile_ms\": " + number(time.lower_quartile_ms) +
         ", \"upper_quartile_ms\": " + number(time.upper_quartile_ms) +
         ", \"minimum_ms\": " + number(time.minimum_ms) +
         ", \"maximum_ms\": " + number(time.maximum_ms) +
         ", \"rounds\": " + std::to_string(time.runs) +
         ", \"calls_in_a_row\": " + std::to_string(time.calls_in_a_row);
}

std::string json_of(const std::vector<time_ratio>& ratios) {
  std::string text;
  for (const time_ratio& each : ratios) {
    text += (text.empty() ? "" : ", ");
    text += "{\"to\": " + lab::quoted(each.to) + ", \"median\": " + number(each.median) +
            ", \"lower_quartile\": " + number(each.lower_quartile) +
            ", \"upper_quartile\": " + number(each.upper_quartile) + "}";
  }
  return "[" + text + "]";
}

}  // namespace

results::results(const device_facts& device, std::uint32_t rounds, std::ostream& out)
    : device_(device), rounds_(rounds), out_(out) {
  out_ << "device: " << device_.name << ", " << device_.multiprocessors << " SMs, "
       << formatted("%.1f MB", static_cast<double>(device_.cache_bytes) / 1e6)
       << " of last-level cache, CUDA " << device_.cuda_runtime << '\n';
  if (device_.theoretical_gigabytes_per_second > 0) {
    out_ << "memory: " << formatted("%.0f", device_.theoretical_gigabytes_per_second)
         << " GB/s by its clock and its bus\n";
  }
  out_ << "rounds: " << rounds_ << '\n' << std::flush;
}

void results::set_copy(std::uint64_t elements, const contest_row& row) {
  copy_elements_ = elements;
  copy_ = row;
  out_ << "copy from device to device, " << size_text(elements)
       << " floats: " << formatted("%.1f", gigabytes_per_second(row)) << " GB/s\n"
       << std::flush;
}

double results::share_of_copy(const contest_row& row) const {
  const double copy = gigabytes_per_second(copy_);
  return copy > 0 ? gigabytes_per_second(row) / copy : 0;
}

void results::print_row(const contest_row& row, const std::string& compared_with) {
  char text[256];
  std::snprintf(text, sizeof text, "%-*s %11.3f %11.3f %11.3f", name_width, row.name.c_str(),
                row.time.median_ms * 1e3, row.time.lower_quartile_ms * 1e3,
                row.time.upper_quartile_ms * 1e3);
  out_ << text;
  if (row.bytes > 0) {
    std::snprintf(text, sizeof text, " %8.1f %7.1f%%", gigabytes_per_second(row),
                  100 * share_of_copy(row));
    out_ << text;
    if (device_.theoretical_gigabytes_per_second > 0) {
      std::snprintf(text, sizeof text, " %7.1f%%",
                    100 * gigabytes_per_second(row) / device_.theoretical_gigabytes_per_second);
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

void results::add(const contest_description& of, const contest_result& result) {
  contests_.push_back({of, result});
  out_ << '\n'
       << of.chapter << ' ' << of.task << " of " << of.type << ", " << size_text(of.elements)
       << " elements";
  // Pictures have no input.
  if (of.data != "none") out_ << " from " << of.data << ", inputs in turn: " << of.inputs;
  out_ << '\n';
  char heading[256];
  std::snprintf(heading, sizeof heading, "%-*s %11s %11s %11s %8s %8s%s  %s\n", name_width, "",
                "median us", "quartile", "quartile", "GB/s", "of copy",
                device_.theoretical_gigabytes_per_second > 0 ? "  of peak" : "", "time");
  out_ << heading;
  const std::string compared_with = fastest_peer(result.rows);
  for (const contest_row& row : result.rows) print_row(row, compared_with);
  for (const wrong_result& each : result.wrong) {
    out_ << each.name << " is WRONG: " << each.what << '\n';
  }
  out_ << std::flush;
}

void results::add_not_run(const std::string& chapter, const std::string& task,
                          const std::string& name, const std::string& reason) {
  for (const not_run& each : not_run_) {
    if (each.chapter == chapter && each.task == task && each.name == name &&
        each.reason == reason) {
      return;
    }
  }
  not_run_.push_back({chapter, task, name, reason});
  out_ << '\n' << chapter << ' ' << task << ": no " << name << ": " << reason << '\n' << std::flush;
}

std::size_t results::wrong_count() const {
  std::size_t count = 0;
  for (const measured& each : contests_) count += each.result.wrong.size();
  return count;
}

void results::finish() {
  std::size_t rows = 0;
  for (const measured& each : contests_) rows += each.result.rows.size();
  out_ << '\n';
  if (const std::size_t wrong = wrong_count(); wrong > 0) {
    out_ << wrong << " results are WRONG\n";
  } else {
    out_ << "all results of " << rows << " rows are right\n";
  }
  out_ << std::flush;
}

bool results::right() const { return !contests_.empty() && wrong_count() == 0; }

std::string results::json() const {
  std::ostringstream text;
  text << "{\n\"device\": {\"name\": " << lab::quoted(device_.name)
       << ", \"multiprocessors\": " << device_.multiprocessors
       << ", \"compute_capability\": " << lab::quoted(device_.compute_capability)
       << ", \"memory_bytes\": " << device_.memory_bytes
       << ", \"cache_bytes\": " << device_.cache_bytes << ", \"theoretical_gigabytes_per_second\": "
       << (device_.theoretical_gigabytes_per_second > 0
               ? number(device_.theoretical_gigabytes_per_second)
               : "null")
       << "},\n\"cuda_runtime\": " << lab::quoted(device_.cuda_runtime)
       << ",\n\"cuda_driver\": " << lab::quoted(device_.cuda_driver) << ",\n\"rounds\": " << rounds_
       << ",\n\"copy\": {\"elements\": " << copy_elements_ << ", \"bytes\": " << copy_.bytes << ", "
       << json_of(copy_.time) << "},\n\"not_run\": [";
  const char* separator = "\n";
  for (const not_run& each : not_run_) {
    text << separator << "{\"chapter\": " << lab::quoted(each.chapter)
         << ", \"task\": " << lab::quoted(each.task) << ", \"name\": " << lab::quoted(each.name)
         << ", \"reason\": " << lab::quoted(each.reason) << '}';
    separator = ",\n";
  }
  text << "],\n\"rows\": [";
  separator = "\n";
  for (const measured& each : contests_) {
    for (const contest_row& row : each.result.rows) {
      text << separator << "{\"chapter\": " << lab::quoted(each.of.chapter)
           << ", \"task\": " << lab::quoted(each.of.task)
           << ", \"type\": " << lab::quoted(each.of.type) << ", \"elements\": " << each.of.elements
           << ", \"data\": " << lab::quoted(each.of.data) << ", \"inputs\": " << each.of.inputs
           << ", \"name\": " << lab::quoted(row.name) << ", \"part\": \"" << name_of(row.part)
           << "\", \"bytes\": " << row.bytes << ", " << json_of(row.time)
           << ", \"ratios\": " << json_of(row.ratios) << '}';
      separator = ",\n";
    }
  }
  text << "]\n}\n";
  return text.str();
}

}  // namespace benchmarks
