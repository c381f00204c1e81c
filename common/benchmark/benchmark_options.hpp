// SPDX-License-Identifier: MIT
// The command line of the benchmark program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benchmarks {

struct benchmark_options {
  std::string chapter = {};  // "04"; empty: all.
  std::string only = {};     // A subject; empty: all.
  std::uint64_t smallest = std::uint64_t{1} << 10;
  std::uint64_t largest = std::uint64_t{1} << 30;
  std::uint32_t rounds = 21;
  bool quick = false;                             // Fewer sizes.
  std::optional<std::uint64_t> cache_bytes = {};  // Not given: what the device says.
  std::string json_file = {};                     // Empty: no file.
  bool force = false;                             // It may replace a file of another kind.
};

// What may be asked for: {chapter, subject}.
using offered_benchmark = std::pair<std::string, std::string>;

// Reads the command line. `offered` is what --chapter and --only may choose from. Throws
// lab::usage_error (one sentence) for what is wrong with it, lab::help_request for --help.
benchmark_options parse_benchmark_options(int argc, const char* const* argv,
                                          const std::vector<offered_benchmark>& offered);

// Whether this benchmark of a chapter was asked for.
bool is_chosen(const benchmark_options& options, const offered_benchmark& one);

// The sizes to measure: powers of two from `smallest` to `largest`, and in a quick run only those
// that tell most. Ascending.
std::vector<std::size_t> chosen_sizes(const benchmark_options& options);

}  // namespace benchmarks
