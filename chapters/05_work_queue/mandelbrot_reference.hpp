// SPDX-License-Identifier: MIT
// The counts of a Mandelbrot picture, computed on the host in a way that shares no formula with
// mandelbrot.cuh: with products in another form, and a division instead of shifts.
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

// What escape_count must return, to the last bit. 64 bits are enough: x and y are below 8 before
// the comparison, so that neither side of it reaches 64 * 2^56, and z is within 2 after it. The
// tests hold that against Integer = __int128, in which nothing could overflow.
template <class Integer = std::int64_t>
std::uint32_t reference_escape_count(fixed cx, fixed cy, std::uint32_t limit) {
  constexpr Integer one = Integer{1} << fraction_bits;
  Integer x = 0;
  Integer y = 0;
  std::uint32_t n = 0;
  while (n < limit && y * y <= 4 * one * one - x * x) {
    // (x + y)(x - y) is x^2 - y^2.
    const Integer next_x = floor_division((x + y) * (x - y), one) + cx;
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
