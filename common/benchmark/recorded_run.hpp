// SPDX-License-Identifier: MIT
// What a benchmark program writes to its --json file. `./lab bench` adds when, where and from what
// it was made; recorded_run.schema.json defines all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmark/comparison.hpp"
#include "lab/result_file.hpp"

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

}  // namespace benchmarks
