// SPDX-License-Identifier: MIT
// What a series of timed runs amounts to. No CUDA here; timing.cuh does the timing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab {

// Milliseconds a call in `runs` runs of the same work, each of `calls_in_a_row` calls.
struct timing {
  double median_ms = 0;
  double minimum_ms = 0;
  double maximum_ms = 0;
  int runs = 0;
  int calls_in_a_row = 1;
};

// How many calls one timed run should make of work that takes `milliseconds`: together half a
// millisecond, and at most 1,000.
inline int calls_in_a_row(double milliseconds) {
  constexpr double run_ms = 0.5;
  constexpr double most_calls = 1000;
  if (milliseconds * most_calls <= run_ms) return static_cast<int>(most_calls);
  return std::max(1, static_cast<int>(run_ms / milliseconds));
}

// `milliseconds` holds one entry a run and is not empty. Of an even number of runs the median is
// the mean of the two in the middle.
inline timing summarize(std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  const std::size_t runs = milliseconds.size();
  return {.median_ms = (milliseconds[(runs - 1) / 2] + milliseconds[runs / 2]) / 2,
          .minimum_ms = milliseconds.front(),
          .maximum_ms = milliseconds.back(),
          .runs = static_cast<int>(runs)};
}

// Decimal gigabytes (10^9 bytes) a second; 0 where no time passed.
inline double gigabytes_per_second(std::uint64_t bytes, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(bytes) / (milliseconds * 1e6) : 0;
}

}  // namespace lab
