// SPDX-License-Identifier: MIT
// What a series of timed runs amounts to. No CUDA here; timing.cuh does the timing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace checked {

// Milliseconds a call in `runs` runs of the same work, each of `calls_in_a_row` calls. Half of the
// runs lie between the quartiles.
struct timing {
  double median_ms = 0;
  double lower_quartile_ms = 0;
  double upper_quartile_ms = 0;
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

// The value below which the part `fraction`, from 0 to 1, of `sorted` lies, straight between its
// two neighbours where it falls between them: 0.5 is the median. `sorted` ascends and is not empty.
inline double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// `milliseconds` holds one entry a run and is not empty.
inline timing summarize(std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  return {.median_ms = quantile(milliseconds, 0.5),
          .lower_quartile_ms = quantile(milliseconds, 0.25),
          .upper_quartile_ms = quantile(milliseconds, 0.75),
          .minimum_ms = milliseconds.front(),
          .maximum_ms = milliseconds.back(),
          .runs = static_cast<int>(milliseconds.size())};
}

// Decimal gigabytes (10^9 bytes) a second; 0 where no time passed.
inline double gigabytes_per_second(std::uint64_t bytes, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(bytes) / (milliseconds * 1e6) : 0;
}

}  // namespace checked
