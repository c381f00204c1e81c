// SPDX-License-Identifier: MIT
// What a run of the benchmarks found, as text while it goes on, and as JSON at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "benchmark/comparison.hpp"
#include "benchmark/recorded_run.hpp"

namespace benchmarks {

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
