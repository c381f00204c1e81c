// SPDX-License-Identifier: MIT
// The counts of a Mandelbrot picture, computed on the host in a way that shares no formula with
// mandelbrot.cuh: in 128 bits, with products in another form and a division instead of shifts.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "05_work_queue/mandelbrot.cuh"

namespace course {

// The largest whole number that is not above numerator / denominator; denominator > 0.
template <class Integer>
constexpr Integer floor_division(Integer numerator, Integer denominator) {
  const Integer quotient = numerator / denominator;
  return quotient - (numerator % denominator < 0 ? 1 : 0);
}

// What escape_count must return, to the last bit.
inline std::uint32_t reference_escape_count(fixed cx, fixed cy, std::uint32_t limit) {
  __extension__ using int128 = __int128;
  constexpr int128 one = int128{1} << fraction_bits;
  int128 x = 0;
  int128 y = 0;
  std::uint32_t n = 0;
  // (x + y)^2 - 2xy is x^2 + y^2, and (x + y)(x - y) is x^2 - y^2.
  while (n < limit && (x + y) * (x + y) - 2 * x * y <= 4 * one * one) {
    const int128 next_x = floor_division((x + y) * (x - y), one) + cx;
    y = floor_division(2 * x * y, one) + cy;
    x = next_x;
    ++n;
  }
  return n;
}

// All counts of the picture, row by row, on all of the host's cores.
inline std::vector<std::uint32_t> reference_counts(const picture& of) {
  std::vector<std::uint32_t> counts(of.pixel_count());
  std::atomic<std::uint32_t> next_row = 0;
  const auto take_rows = [&] {
    for (std::uint32_t row = next_row++; row < of.size; row = next_row++) {
      for (std::uint32_t column = 0; column < of.size; ++column) {
        counts[std::size_t{row} * of.size + column] =
            reference_escape_count(of.cx(column), of.cy(row), of.iterations);
      }
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) others.emplace_back(take_rows);
  take_rows();
  others.clear();  // Waits for them.
  return counts;
}

}  // namespace course
