// SPDX-License-Identifier: MIT
#include "lab/program.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <iomanip>
#include <iostream>
#include <new>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "cpu_backend/execution/terminal_text.hpp"
#include "lab/device.hpp"
#include "lab/options.hpp"
#include "lab/output_files.hpp"

namespace lab {

namespace {

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

constexpr std::size_t columns = 80;

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

program_results::program_results(const program_description& program, const options& chosen,
                                 const device_description& device, std::ostream& out)
    : program_(program), options_(chosen), device_(device), out_(out) {}

void program_results::print_heading() {
  if (std::exchange(heading_is_printed_, true)) return;
  out_ << program_.name << ": " << program_.summary << '\n'
       << "device: " << device_.name << ", " << device_.multiprocessors << " SMs\n"
       << chosen_options() << "\n\n"
       << std::flush;
}

// "elements: 1,048,576, timed runs: 10, seed: 1", on as many lines as a terminal of 80 columns
// needs.
std::string program_results::chosen_options() const {
  std::string text;
  const auto say = [&text](const std::string& option, const std::string& value) {
    const std::string words = option.substr(option.find_first_not_of('-')) + ": " + value;
    const std::size_t line = text.rfind('\n') + 1;  // 0 if there is none
    const bool fits = text.size() - line + words.size() + 3 <= columns;
    text += (text.empty() ? "" : fits ? ", " : ",\n") + words;
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

void program_results::compare(const std::string& label, std::int64_t got, std::int64_t expected) {
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

void program_results::add(const measurement& row) {
  print_heading();
  if (rows_.empty()) {
    print_row({"variant", "blocks", "threads", "median ms", "min ms", "max ms", "GB/s", "result"});
  }
  rows_.push_back(row);
  print_row({row.variant, std::to_string(row.blocks), std::to_string(row.threads),
             fixed(row.time.median_ms, 4), fixed(row.time.minimum_ms, 4),
             fixed(row.time.maximum_ms, 4),
             row.bytes > 0 ? fixed(gigabytes_per_second(row.bytes, row.time.median_ms), 1) : "-",
             row.wrong ? "WRONG: " + *row.wrong : "right"});
}

// The usual columns fit into a terminal of 80 columns with the chapters' longest name.
void program_results::print_row(const std::array<std::string, 8>& cells) {
  constexpr std::array widths = {0, 10, 9, 12, 12, 12, 9};
  constexpr std::size_t fastest = 4, slowest = 5;
  out_ << std::left << std::setw(static_cast<int>(variant_width(program_))) << cells[0]
       << std::right;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (options_.wide || (i != fastest && i != slowest)) out_ << std::setw(widths[i]) << cells[i];
  }
  out_ << "  " << cells.back() << '\n' << std::flush;
}

void program_results::note(const std::string& text) {
  print_heading();
  notes_.push_back(text);
  out_ << text << '\n' << std::flush;
}

void program_results::add(const work_trace& run) {
  print_heading();
  traces_.push_back(
      {run.variant, makespan_ms(run), busy_fraction(run), recorded_items(run).size()});
  const traced_variant& last = traces_.back();
  out_ << "schedule of " << last.variant << ": " << with_separators(std::int64_t(last.items))
       << " items in " << fixed(last.makespan_ms, 4) << " ms, busy "
       << fixed(100 * last.busy_fraction, 1) << " %\n"
       << std::flush;
}

void program_results::finish() {
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

std::size_t program_results::wrong_count() const {
  const auto rows = std::count_if(rows_.begin(), rows_.end(),
                                  [](const measurement& row) { return row.wrong.has_value(); });
  const auto comparisons =
      std::count_if(comparisons_.begin(), comparisons_.end(),
                    [](const comparison& result) { return result.got != result.expected; });
  return static_cast<std::size_t>(rows + comparisons);
}

bool program_results::right() const {
  return !(rows_.empty() && comparisons_.empty()) && wrong_count() == 0;
}

namespace {

int checked_run(int argc, const char* const* argv, const program_description& description,
                const std::function<void(const options&, program_results&)>& body) {
  const options chosen = parse_options(argc, argv, description);
  for (const file_option& each : description.files) {
    const std::string& path = chosen.files.at(each.name);
    if (!path.empty()) result_file(path, each.kind, chosen.force).require_writable();
  }
  std::optional<result_file> json;
  if (!chosen.json_file.empty()) {
    json.emplace(chosen.json_file, report_file, chosen.force).require_writable();
  }
  if (const auto reason = why_no_device()) {
    std::cerr << description.name << ": " << *reason << '\n';
    return exit_no_device;
  }
  program_results results(description, chosen, describe_device(), std::cout);
  body(chosen, results);
  results.finish();
  if (json) json->write(results.json());
  if (!std::cout) throw std::runtime_error("cannot write the report to standard output");
  return results.right() ? exit_right : exit_wrong;
}

}  // namespace

int exit_status_of(const std::string& name, const std::function<int()>& body) {
  const auto fail = [&name](const char* sentence, exit_status status) -> int {
    std::cout.flush();
    std::cerr << name << ": " << cpu_backend::without_controls(sentence) << '\n';
    return status;
  };
  try {
    return body();
  } catch (const help_request& help) {
    std::cout << help.text;
    return exit_right;
  } catch (const usage_error& error) {
    return fail(error.what(), exit_usage);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), exit_usage);
  } catch (const std::bad_alloc&) {
    return fail("the host has not enough memory for so many elements", exit_wrong);
  } catch (const std::exception& error) {
    return fail(error.what(), exit_wrong);
  }
}

int run_program(int argc, const char* const* argv, const program_description& description,
                const std::function<void(const options&, program_results&)>& body) {
  return exit_status_of(description.name,
                        [&] { return checked_run(argc, argv, description, body); });
}

}  // namespace lab
