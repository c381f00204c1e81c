// SPDX-License-Identifier: MIT
// What a run of the benchmarks found: as text while it goes on, and at its end as JSON, to which
// `./lab bench` adds when, where and from what it was made; recorded_run.schema.json defines all of
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "benchmark/comparison.hpp"
#include "lab/output_files.hpp"

namespace benchmarks {

// What its file begins with.
inline const lab::file_kind recorded_run_file = {.mark = "{\n  \"format\": "};

// The device and the CUDA that drives it.
struct device_facts {
  std::string name = {};
  int multiprocessors = 0;
  std::string compute_capability = {};  // "9.0"
  std::uint64_t memory_bytes = 0;
  std::uint64_t cache_bytes = 0;  // The last level's.
  // Of its memory, by its clock and the width of its bus; 0 where the driver does not say.
  double theoretical_gigabytes_per_second = 0;
  std::string cuda_runtime = {};  // "13.0"
  std::string cuda_driver = {};   // The CUDA version that the driver knows.
  std::string cccl = {};          // "3.5.0": CUB and Thrust; empty where there is none.
  std::string cublas = {};        // The same.
};

// What the cases of one comparison do.
struct comparison_description {
  std::string chapter = {};    // "04"
  std::string task = {};       // "sum"
  std::string type = {};       // "float"
  std::uint64_t elements = 0;  // Of each vector.
  // Where the inputs come from: "memory", or "cache" where calls find them there; "none" where
  // there are none.
  std::string data = {};
  std::size_t inputs = 1;  // Taken in turn.
  // The grid's threads and a block's, where the launch itself is what is measured.
  std::optional<std::uint64_t> threads = {};
  std::optional<std::uint32_t> block = {};
};

struct recorded_copy {
  std::uint64_t elements = 0;
  comparison_row row;
};
struct recorded_row {
  comparison_description description;
  comparison_row row;
};
// Something that was to be measured, and why it could not be.
struct not_run {
  std::string chapter, task, name, reason;
};

struct recorded_run {
  device_facts device;
  std::uint32_t rounds = 0;
  std::optional<recorded_copy> copy = {};  // The copy that all bandwidths are compared with.
  std::vector<not_run> missing = {};
  std::vector<recorded_row> rows = {};
};

// The run as one JSON object, as text that ends in a line feed. Only if lab::why_no_json() is
// empty.
std::string json_of(const recorded_run& run);

class results {
 public:
  // Prints to `out`, which must outlive the results.
  results(const device_facts& device, std::uint32_t rounds, std::ostream& out);

  // The copy that all bandwidths are compared with. Before all comparisons; prints one line.
  void set_copy(std::uint64_t elements, const comparison_row& row);

  // Prints a table with a row for each case, and whose result was wrong.
  void add(const comparison_description& of, const comparison_result& result);

  // Something that was to be measured, and why it could not be: it is in no table. Prints one line;
  // the same note again is dropped.
  void add_not_run(const std::string& chapter, const std::string& task, const std::string& name,
                   const std::string& reason);

  // Prints the last line.
  void finish();

  // Whether anything was measured and nothing was wrong.
  bool right() const;

  // All of it.
  const recorded_run& run() const { return run_; }

 private:
  double share_of_copy(const comparison_row& row) const;
  void print_row(const comparison_row& row, const std::string& compared_with);

  recorded_run run_;
  std::ostream& out_;
  std::size_t comparisons_ = 0;
  std::size_t wrong_ = 0;
};

}  // namespace benchmarks
