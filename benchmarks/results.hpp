// SPDX-License-Identifier: MIT
// What a run of the benchmarks found, as text while it goes on, and as JSON at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "contest.hpp"

namespace benchmarks {

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

// What the contenders of one contest do.
struct contest_description {
  std::string chapter = {};    // "04"
  std::string task = {};       // "sum"
  std::string type = {};       // "float"
  std::uint64_t elements = 0;  // Of each vector.
  // Where the inputs come from: "memory", or "cache" where calls find them there; "none" where
  // there are none.
  std::string data = {};
  std::size_t inputs = 1;  // Taken in turn.
};

class results {
 public:
  // Prints to `out`, which must outlive the results.
  results(const device_facts& device, std::uint32_t rounds, std::ostream& out);

  // The copy that all bandwidths are compared with. Before all contests; prints one line.
  void set_copy(std::uint64_t elements, const contest_row& row);

  // Prints a table with a row for each contender, and whose result was wrong.
  void add(const contest_description& of, const contest_result& result);

  // Something that was to be measured, and why it could not be: it is in no table. Prints one line;
  // the same note again is dropped.
  void add_not_run(const std::string& chapter, const std::string& task, const std::string& name,
                   const std::string& reason);

  // Prints the last line.
  void finish();

  // Whether anything was measured and nothing was wrong.
  bool right() const;

  // All of it as one JSON object, as text that ends in a line feed.
  std::string json() const;

 private:
  struct measured {
    contest_description of;
    contest_result result;
  };
  struct not_run {
    std::string chapter, task, name, reason;
  };

  double share_of_copy(const contest_row& row) const;
  std::size_t wrong_count() const;
  void print_row(const contest_row& row, const std::string& compared_with);

  device_facts device_;
  std::uint32_t rounds_;
  std::ostream& out_;
  std::uint64_t copy_elements_ = 0;
  contest_row copy_;
  std::vector<measured> contests_;
  std::vector<not_run> not_run_;
};

}  // namespace benchmarks
