// SPDX-License-Identifier: MIT
#include "lab/report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <utility>

#include "lab/json_text.hpp"

#include "lab/json_text.hpp"

namespace lab {

namespace {

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

const char* json_bool(bool value) { return value ? "true" : "false"; }

std::size_t variant_width(const program_description& program) {
  std::size_t width = std::string("variant").size();
  for (const std::string& name : program.variants) width = std::max(width, name.size());
  return width;
}

}  // namespace

std::string with_separators(std::int64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t place = 0; place < digits.size(); ++place) {
    const bool after_a_digit = place > 0 && digits[place - 1] != '-';
    if (after_a_digit && (digits.size() - place) % 3 == 0) text += ',';
    text += digits[place];
  }
  return text;
}

report::report(const program_description& program, const options& chosen,
               const device_description& device, std::ostream& out)
    : program_(program), options_(chosen), device_(device), out_(out) {}

void report::print_heading() {
  if (std::exchange(heading_is_printed_, true)) return;
  out_ << program_.name << ": " << program_.summary << '\n'
       << "device: " << device_.name << ", " << device_.multiprocessors << " SMs\n"
       << chosen_options() << "\n\n"
       << std::flush;
}

// "elements: 1,048,576, timed runs: 10, seed: 1"
std::string report::chosen_options() const {
  std::string text;
  const auto say = [&text](const std::string& option, const std::string& value) {
    text +=
        (text.empty() ? "" : ", ") + option.substr(option.find_first_not_of('-')) + ": " + value;
  };
  const auto number = [](std::uint64_t value) {
    return with_separators(static_cast<std::int64_t>(value));
  };
  if (program_.has("--elements")) say("elements", number(options_.elements));
  for (const number_option& each : program_.numbers) {
    say(each.name, number(options_.numbers.at(each.name)));
  }
  for (const choice_option& each : program_.choices) {
    say(each.name, options_.choices.at(each.name));
  }
  say("timed runs", std::to_string(options_.repeat));
  if (program_.has("--seed")) say("seed", std::to_string(options_.seed));
  return text;
}

void report::compare(const std::string& label, std::int64_t got, std::int64_t expected) {
  print_heading();
  comparisons_.push_back({label, got, expected});
  out_ << label << ": " << with_separators(got);
  if (got == expected) {
    out_ << ", right\n\n";
  } else {
    out_ << ", WRONG: expected " << with_separators(expected) << "\n\n";
  }
  out_ << std::flush;
}

void report::add(const measurement& row) {
  print_heading();
  const auto width = static_cast<int>(variant_width(program_));
  if (rows_.empty()) {
    out_ << std::left << std::setw(width) << "variant" << std::right << std::setw(11) << "blocks"
         << std::setw(9) << "threads" << std::setw(12) << "median ms" << std::setw(12) << "min ms"
         << std::setw(12) << "max ms" << std::setw(9) << "GB/s"
         << "  result\n";
  }
  rows_.push_back(row);
  out_ << std::left << std::setw(width) << row.variant << std::right << std::setw(11) << row.blocks
       << std::setw(9) << row.threads << std::setw(12) << fixed(row.time.median_ms, 4)
       << std::setw(12) << fixed(row.time.minimum_ms, 4) << std::setw(12)
       << fixed(row.time.maximum_ms, 4) << std::setw(9)
       << (row.bytes > 0 ? fixed(gigabytes_per_second(row.bytes, row.time.median_ms), 1) : "-")
       << "  " << (row.wrong ? "WRONG: " + *row.wrong : "right") << '\n'
       << std::flush;
}

void report::note(const std::string& text) {
  print_heading();
  notes_.push_back(text);
  out_ << text << '\n' << std::flush;
}

void report::add(const schedule& run) {
  print_heading();
  schedules_.push_back(
      {run.variant, makespan_ms(run), busy_fraction(run), recorded_items(run).size()});
  const busyness& last = schedules_.back();
  out_ << "schedule of " << last.variant << ": " << with_separators(std::int64_t(last.items))
       << " items in " << fixed(last.makespan_ms, 4) << " ms, busy "
       << fixed(100 * last.busy_fraction, 1) << " %\n"
       << std::flush;
}

void report::finish() {
  const std::size_t results = rows_.size() + comparisons_.size();
  const std::size_t wrong = wrong_count();
  out_ << '\n';
  if (wrong == 0) {
    out_ << "all " << results << " results are right\n";
  } else {
    out_ << wrong << " of " << results << " results are WRONG\n";
  }
  out_ << std::flush;
}

std::size_t report::wrong_count() const {
  const auto rows = std::count_if(rows_.begin(), rows_.end(),
                                  [](const measurement& row) { return row.wrong.has_value(); });
  const auto comparisons =
      std::count_if(comparisons_.begin(), comparisons_.end(),
                    [](const comparison& result) { return result.got != result.expected; });
  return static_cast<std::size_t>(rows + comparisons);
}

bool report::right() const {
  return !(rows_.empty() && comparisons_.empty()) && wrong_count() == 0;
}

std::string report::json_of_own_options() const {
  std::string text;
  for (const auto& [option, value] : options_.numbers) {
    text += ", " + quoted(option.substr(2)) + ": " + std::to_string(value);
  }
  for (const auto& [option, value] : options_.choices) {
    text += ", " + quoted(option.substr(2)) + ": " + quoted(value);
  }
  return text;
}

std::string report::json() const {
  std::ostringstream text;
  text << "{\n  \"program\": " << quoted(program_.name)
       << ",\n  \"device\": {\"name\": " << quoted(device_.name)
       << ", \"multiprocessors\": " << device_.multiprocessors << ", \"compute_capability\": \""
       << device_.compute_capability_major << '.' << device_.compute_capability_minor
       << "\"},\n  \"options\": {\"elements\": " << options_.elements
       << ", \"threads\": " << options_.threads
       << ", \"blocks\": " << (options_.blocks ? std::to_string(*options_.blocks) : "null")
       << ", \"repeat\": " << options_.repeat << ", \"seed\": " << options_.seed
       << ", \"variant\": " << (options_.variant.empty() ? "null" : quoted(options_.variant))
       << json_of_own_options() << "},\n  \"comparisons\": [";
  const char* separator = "\n    ";
  for (const comparison& result : comparisons_) {
    text << separator << "{\"label\": " << quoted(result.label) << ", \"got\": " << result.got
         << ", \"expected\": " << result.expected
         << ", \"right\": " << json_bool(result.got == result.expected) << '}';
    separator = ",\n    ";
  }
  text << "],\n  \"rows\": [";
  separator = "\n    ";
  for (const measurement& row : rows_) {
    text << separator << "{\"variant\": " << quoted(row.variant) << ", \"blocks\": " << row.blocks
         << ", \"threads\": " << row.threads << ", \"median_ms\": " << row.time.median_ms
         << ", \"minimum_ms\": " << row.time.minimum_ms
         << ", \"maximum_ms\": " << row.time.maximum_ms << ", \"runs\": " << row.time.runs
         << ", \"calls_in_a_row\": " << row.time.calls_in_a_row << ", \"bytes\": " << row.bytes
         << ", \"gigabytes_per_second\": " << gigabytes_per_second(row.bytes, row.time.median_ms)
         << ", \"right\": " << json_bool(!row.wrong)
         << ", \"wrong\": " << (row.wrong ? quoted(*row.wrong) : "null") << '}';
    separator = ",\n    ";
  }
  text << "],\n  \"notes\": [";
  separator = "\n    ";
  for (const std::string& note : notes_) {
    text << separator << quoted(note);
    separator = ",\n    ";
  }
  text << "],\n  \"schedules\": [";
  separator = "\n    ";
  for (const busyness& run : schedules_) {
    text << separator << "{\"variant\": " << quoted(run.variant) << ", \"items\": " << run.items
         << ", \"makespan_ms\": " << run.makespan_ms << ", \"busy_fraction\": " << run.busy_fraction
         << '}';
    separator = ",\n    ";
  }
  text << "],\n  \"right\": " << json_bool(right()) << "\n}\n";
  return text.str();
}

}  // namespace lab
