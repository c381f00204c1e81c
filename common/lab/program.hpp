// SPDX-License-Identifier: MIT
// The frame of every program: command line, device, exit status, and its results, as it prints them
// and as a JSON file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "lab/device.hpp"
#include "lab/options.hpp"
#include "lab/timing.hpp"
#include "lab/work_trace.hpp"

namespace lab {

// One row: one variant's launch, how long it took, and whether its result is right.
struct measurement {
  std::string variant;
  std::uint64_t blocks = 0;
  std::uint32_t threads = 0;
  timing time;
  std::uint64_t bytes = 0;  // That one run must read and write at the least; 0: it is not counted.
  std::optional<std::string> wrong;  // What is wrong with the result; nothing if it is right.
};

// Collects the results and prints each as it comes, so that a long run shows its progress.
class program_results {
 public:
  // Prints to `out`, which must outlive the results. Nothing before the first result: a program
  // that is refused for what it was asked prints no report.
  program_results(const program_description& program, const options& chosen,
                  const device_description& device, std::ostream& out);

  // A result that is no row: `label` names what was computed, `got` and `expected` are compared.
  // Prints one line.
  void compare(const std::string& label, std::int64_t got, std::int64_t expected);

  // Prints one row.
  void add(const measurement& row);

  // Prints a line of its own, and keeps it for the JSON: a count that belongs to the result, such
  // as how many blocks were launched.
  void note(const std::string& text);

  // Prints how well the variant's run kept the device busy.
  void add(const work_trace& run);

  // Prints the last line: that all is right, or how many results are wrong.
  void finish();

  // Whether every result so far is right. Without any result it is not.
  bool right() const;

  // All of it as one JSON object, as text that ends in a line feed. Only if why_no_json() is empty.
  std::string json() const;

 private:
  struct comparison {
    std::string label;
    std::int64_t got;
    std::int64_t expected;
  };

  void print_heading();  // Before the first result only.
  std::string chosen_options() const;
  void print_row(const std::array<std::string, 8>& cells);
  std::size_t wrong_count() const;

  program_description program_;
  options options_;
  device_description device_;
  std::ostream& out_;
  bool heading_is_printed_ = false;
  std::vector<comparison> comparisons_;
  std::vector<measurement> rows_;
  std::vector<std::string> notes_;
  struct traced_variant {
    std::string variant;
    double makespan_ms;
    double busy_fraction;
    std::size_t items;
  };
  std::vector<traced_variant> traces_;
};

// 25725848529920 as "25,725,848,529,920".
std::string with_separators(std::int64_t value);

enum exit_status : int {
  exit_right = 0,
  exit_wrong = 1,  // A wrong result, or a failure at run time.
  exit_usage = 2,
  exit_no_device = 77,  // The number that Meson counts as a skipped test.
};

// Reads the command line, refuses what cannot work (wrong options, an unwritable --json, no device)
// before any work is done, calls `body`, which adds its results, then prints the
// verdict and writes the --json file. Returns the exit status for main(). What `body` throws
// becomes a sentence, as in exit_status_of.
int run_program(int argc, const char* const* argv, const program_description& description,
                const std::function<void(const options&, program_results&)>& body);

// The exit status that `body` returns. What it throws becomes one sentence on standard error, after
// the program's name, and an exit status: usage_error and std::invalid_argument 2, everything else
// (cuda_error, std::bad_alloc, ...) 1; help_request prints its text, 0.
int exit_status_of(const std::string& name, const std::function<int()>& body);

}  // namespace lab
