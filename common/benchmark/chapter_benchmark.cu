// SPDX-License-Identifier: MIT
// Times the chapters' variants beside the libraries' functions.
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmark/benchmark_options.hpp"
#include "benchmark/results.hpp"
#include "benchmark/session.hpp"
#include "lab/device.hpp"
#include "lab/program.hpp"
#include "lab/result_file.hpp"

namespace {

constexpr const char* program = "chapter_benchmark";

int run(int argc, char** argv) {
  std::vector<benchmarks::offered_benchmark> offered;
  for (const auto* each : benchmarks::all_benchmarks()) {
    offered.emplace_back(each->chapter, each->subject);
  }
  const benchmarks::benchmark_options options =
      benchmarks::parse_benchmark_options(argc, argv, offered);
  std::optional<lab::result_file> json;
  if (!options.json_file.empty()) {
    json.emplace(options.json_file, benchmarks::recorded_run_file, options.force)
        .require_writable();
  }
  if (const auto reason = lab::why_no_device()) {
    std::cerr << program << ": " << *reason << '\n';
    return lab::exit_no_device;
  }

  const benchmarks::device_facts device = benchmarks::current_device(options);
  benchmarks::results found(device, options.rounds, std::cout);
  benchmarks::session session(options, device, found);
  session.measure_copy();
  for (const auto* each : benchmarks::all_benchmarks()) {
    if (benchmarks::is_chosen(options, {each->chapter, each->subject})) each->run(session);
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
