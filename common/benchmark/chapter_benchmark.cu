// SPDX-License-Identifier: MIT
// Times the chapters' variants beside the libraries' functions.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/peers.hpp"
#include "benchmark/results.hpp"
#include "benchmark/session.hpp"
#include "lab/device.hpp"
#include "lab/options.hpp"
#include "lab/output_files.hpp"
#include "lab/program.hpp"

namespace {

using benchmarks::benchmark_options;

constexpr const char* program = "chapter_benchmark";

constexpr std::uint64_t smallest_size = std::uint64_t{1} << 10;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 32;

constexpr std::uint32_t quick_rounds = 7;

std::uint64_t power_of_two(const std::string& option, const std::string& text) {
  const std::uint64_t value = lab::parse_whole_number(option, text, smallest_size, largest_size);
  if (!std::has_single_bit(value)) {
    throw lab::usage_error(option + " must be a power of two, not '" + text + "'");
  }
  return value;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// What may be asked for: {chapter, subject}.
using offered_benchmark = std::pair<std::string, std::string>;

// Whether this benchmark of a chapter was asked for.
bool is_chosen(const benchmark_options& options, const offered_benchmark& one) {
  const auto& [chapter, subject] = one;
  return (options.chapter.empty() || options.chapter == chapter) &&
         (options.only.empty() || options.only == subject);
}

// Reads the command line. `offered` is what --chapter and --only may choose from. Throws
// lab::usage_error (one sentence) for what is wrong with it, lab::help_request for --help.
benchmark_options parse_options(int argc, const char* const* argv,
                                const std::vector<offered_benchmark>& offered) {
  std::vector<std::string> chapters;
  std::vector<std::string> subjects;
  for (const auto& [chapter, subject] : offered) {
    add_once(chapters, chapter);
    add_once(subjects, subject);
  }
  const lab::command_line known = {
      .program = program,
      .summary =
          "Times the chapters' variants beside the libraries' functions, in turn, and checks every "
          "result.",
      .options = {
          {"--chapter", "one chapter only: " + lab::joined(chapters), "NN"},
          {"--only", "one subject only: " + lab::joined(subjects), "SUBJECT"},
          {"--quick", "fewer sizes, and 7 rounds", ""},
          {"--rounds", "timed rounds, at least 3 [21]", "N"},
          {"--smallest", "smallest number of elements, a power of two [2^10]", "N"},
          {"--largest", "largest number of elements, a power of two [2^29]", "N"},
          {"--cache",
           "bytes of the last-level cache, beyond which inputs are rotated [what the device says]",
           "N"},
          {"--json", "also write the results to FILE", "FILE"},
          {"--force", "replace a FILE of another kind as well", ""}}};
  const std::map<std::string, std::string> given = lab::given_options(argc, argv, known);
  // Calls read(text) if the option was given.
  const auto with = [&given](const char* name, const auto& read) {
    if (const auto found = given.find(name); found != given.end()) read(found->second);
  };

  benchmark_options options = {.quick = given.contains("--quick")};
  if (options.quick) options.rounds = quick_rounds;
  with("--chapter", [&](const std::string& text) {
    if (std::find(chapters.begin(), chapters.end(), text) == chapters.end()) {
      throw lab::usage_error("there is no benchmark of chapter '" + text + "'; there are " +
                             lab::joined(chapters));
    }
    options.chapter = text;
  });
  with("--only", [&](const std::string& text) {
    if (std::find(subjects.begin(), subjects.end(), text) == subjects.end()) {
      throw lab::usage_error("--only must be one of " + lab::joined(subjects) + ", not '" + text +
                             "'");
    }
    options.only = text;
  });
  const auto chosen = [&](const offered_benchmark& one) { return is_chosen(options, one); };
  if (std::none_of(offered.begin(), offered.end(), chosen)) {
    throw lab::usage_error("chapter " + options.chapter + " has no benchmark of " + options.only);
  }
  with("--rounds", [&](const std::string& text) {
    options.rounds =
        static_cast<std::uint32_t>(lab::parse_whole_number("--rounds", text, 3, 10'000));
  });
  with("--smallest",
       [&](const std::string& text) { options.smallest = power_of_two("--smallest", text); });
  with("--largest",
       [&](const std::string& text) { options.largest = power_of_two("--largest", text); });
  with("--cache", [&](const std::string& text) {
    options.cache_bytes = lab::parse_whole_number("--cache", text, 0, std::uint64_t{1} << 40);
  });
  with("--json", [&](const std::string& text) {
    options.json_file = lab::parse_file_name("--json", text, lab::why_no_json());
  });
  options.force = given.contains("--force");
  if (options.smallest > options.largest) {
    throw lab::usage_error("--smallest is larger than --largest");
  }
  return options;
}

int run(int argc, char** argv) {
  std::vector<offered_benchmark> offered;
  for (const auto* each : benchmarks::all_benchmarks()) {
    offered.emplace_back(each->chapter, each->subject);
  }
  const benchmark_options options = parse_options(argc, argv, offered);
  std::optional<lab::result_file> json;
  if (!options.json_file.empty()) {
    json.emplace(options.json_file, benchmarks::recorded_run_file, options.force)
        .require_writable();
  }
  if (const auto reason = lab::why_no_device()) {
    std::cerr << program << ": " << *reason << '\n';
    return lab::exit_no_device;
  }

  benchmarks::device_facts device = benchmarks::current_device(options);
  device.cccl = benchmarks::cccl_version();
  device.cublas = benchmarks::cublas_version();
  benchmarks::results found(device, options.rounds, std::cout);
  benchmarks::session session(options, device, found);
  session.measure_copy();
  for (const auto* each : benchmarks::all_benchmarks()) {
    if (is_chosen(options, {each->chapter, each->subject})) each->run(session);
  }
  found.finish();
  if (json) json->write(benchmarks::json_of(found.run()));
  if (!std::cout) throw std::runtime_error("cannot write the results to standard output");
  return found.right() ? lab::exit_right : lab::exit_wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return lab::exit_status_of(program, [&] { return run(argc, argv); });
}
