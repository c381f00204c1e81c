// SPDX-License-Identifier: MIT
// Times the chapters' variants beside the libraries' functions.
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmark_options.hpp"
#include "lab/device.hpp"
#include "lab/program.hpp"
#include "lab/result_file.hpp"
#include "results.hpp"
#include "session.hpp"

namespace {

constexpr const char* program = "chapter_benchmark";

int run(int argc, char** argv) {
  std::vector<std::string> chapters;
  for (const auto* each : benchmarks::all_benchmarks()) chapters.push_back(each->chapter);
  const benchmarks::benchmark_options options =
      benchmarks::parse_benchmark_options(argc, argv, chapters);
  std::optional<lab::result_file> json;
  if (!options.json_file.empty()) json.emplace(options.json_file).require_writable();
  if (const auto reason = lab::why_no_device()) {
    std::cerr << program << ": " << *reason << '\n';
    return lab::exit_no_device;
  }

  const benchmarks::device_facts device = benchmarks::current_device(options);
  benchmarks::results found(device, options.rounds, std::cout);
  benchmarks::session session(options, device, found);
  session.measure_copy();
  for (const auto* each : benchmarks::all_benchmarks()) {
    if (options.chapter.empty() || options.chapter == each->chapter) each->run(session);
  }
  found.finish();
  if (json) json->write(found.json());
  if (!std::cout) throw std::runtime_error("cannot write the results to standard output");
  return found.right() ? lab::exit_right : lab::exit_wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return lab::exit_status_of(program, [&] { return run(argc, argv); });
}
