// SPDX-License-Identifier: MIT
// One run of the benchmarks: what was asked for, the device, and the results so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmark/comparison.hpp"
#include "benchmark/peers.hpp"
#include "benchmark/results.hpp"

namespace benchmarks {

struct benchmark_options {
  std::string chapter = {};  // "04"; empty: all.
  std::string only = {};     // A subject; empty: all.
  std::uint64_t smallest = std::uint64_t{1} << 10;
  std::uint64_t largest = std::uint64_t{1} << 29;
  std::uint32_t rounds = 21;
  bool quick = false;                             // Fewer sizes.
  std::optional<std::uint64_t> cache_bytes = {};  // Not given: what the device says.
  std::string json_file = {};                     // Empty: no file.
  bool force = false;                             // It may replace a file of another kind.
};

// The sizes to measure: powers of two from `smallest` to `largest`, and in a quick run only those
// that tell most. Ascending.
std::vector<std::size_t> chosen_sizes(const benchmark_options& options);

inline constexpr unsigned threads_a_block = 256;  // The chapters' programs' own default.

// Where a comparison's inputs lie: input i begins at element i * elements of each vector.
struct placement {
  std::size_t elements = 0;
  std::string data;  // "memory" or "cache".
  std::size_t inputs = 1;

  std::size_t first(std::size_t input) const { return input * elements; }
  std::size_t length() const { return inputs * elements; }
};

class session {
 public:
  // `found` must outlive the session.
  session(const benchmark_options& options, const device_facts& device, results& found);

  const device_facts& device() const { return device_; }
  const benchmark_options& options() const { return options_; }

  // What to measure of a task that reads and writes `bytes_an_element` in each call, with vectors
  // that take `device_bytes_an_element` of device memory. Each size comes first with as many inputs
  // in turn as take twice the last-level cache, so that each call finds its own in memory; and
  // then, where the cache holds two of them, with a single one, which calls find in the cache. A
  // size for which memory is short is noted as not run.
  std::vector<placement> placements(const std::string& chapter, const std::string& task,
                                    std::uint64_t bytes_an_element,
                                    std::uint64_t device_bytes_an_element);

  // Compares the cases and adds the result. The empty kernel takes part in all comparisons.
  void measure(const comparison_description& of, std::vector<benchmark_case> cases);

  // Adds a case, or a note where its library is not there: `make` returns the case, and
  // may throw no_such_peer.
  void add_peer(std::vector<benchmark_case>& cases, const comparison_description& of,
                const std::string& name, const std::function<benchmark_case()>& make);

  // Notes what could not be measured, and why.
  void add_not_run(const std::string& chapter, const std::string& task, const std::string& name,
                   const std::string& reason);

  // Measures the copy that all bandwidths are compared with. Errors: std::runtime_error where the
  // copy is wrong.
  void measure_copy();

 private:
  const benchmark_options& options_;
  device_facts device_;
  results& results_;
};

// The vectors that all placements need: the longest.
std::size_t longest(const std::vector<placement>& placements);

comparison_description describe(const std::string& chapter, const std::string& task,
                                const std::string& type, const placement& where);

// Copies bytes within the device's memory: between buffers of `bytes` bytes each, which input i
// reads and writes at i * stride_bytes.
benchmark_case device_to_device_copy(const void* from, void* to, std::size_t bytes,
                                     std::size_t stride_bytes, std::size_t inputs);

device_facts current_device(const benchmark_options& options);

// One benchmark of a chapter: "kernels", the chapter's variants next to their peers, or another
// subject of its own. Each source of a chapter has a constant of this type; main() runs those that
// are asked for, in the order of their chapters.
struct chapter_benchmark {
  chapter_benchmark(std::string chapter, std::string subject, void (*run)(session&));

  std::string chapter;
  std::string subject;
  void (*run)(session&);
};

// All that were made, in the order of their chapters.
const std::vector<const chapter_benchmark*>& all_benchmarks();

}  // namespace benchmarks
