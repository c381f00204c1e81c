// SPDX-License-Identifier: MIT
// What the chapter's program and its tests scan, and what is wrong with what comes out.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/exact_data.hpp"
#include "lab/reference.hpp"

namespace course {

// Whole numbers, and for floating-point types numbers spread over [-1, 1). No sum of integers
// overflows: T has room for `n` of them.
template <class T>
std::vector<T> numbers_to_scan(std::size_t n, std::uint64_t seed) {
  if constexpr (std::floating_point<T>) {
    return lab::spread_numbers<T>(n, seed);
  } else {
    const auto room = static_cast<std::uint64_t>(std::numeric_limits<T>::max()) / (n + 1);
    return lab::small_integers<T>(
        n, static_cast<std::int64_t>(std::min<std::uint64_t>(room, 1 << 30)), seed);
  }
}

// What is wrong with `got`, the inclusive sums of `values`, if anything is; of exclusive ones if
// `initial` is given, the value before all. Integers must be equal. A floating-point sum must lie
// within the proven bound (lab::sum_error_bound), where no term passes through more than
// `longest_chain` rounded operations.
template <class T>
std::optional<std::string> wrong_sums(std::span<const T> got, std::span<const T> values,
                                      std::uint64_t longest_chain,
                                      std::optional<T> initial = std::nullopt) {
  const auto wrong_at = [](std::size_t i, const std::string& what) {
    return "element " + std::to_string(i) + ": " + what;
  };
  if constexpr (std::integral<T>) {
    T sum = initial.value_or(0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (initial && got[i] != sum) return wrong_at(i, *lab::unequal(got[i], sum));
      sum = static_cast<T>(sum + values[i]);
      if (!initial && got[i] != sum) return wrong_at(i, *lab::unequal(got[i], sum));
    }
  } else {
    // Long double has 11 more bits than double: the running sum's own error is far below the bound.
    long double sum = initial.value_or(0);
    long double absolute = std::fabs(sum);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto check = [&] {
        return lab::outside_bound(
            got[i], longest_chain,
            {.value = static_cast<double>(sum), .absolute = static_cast<double>(absolute)});
      };
      if (initial) {
        if (const auto wrong = check()) return wrong_at(i, *wrong);
      }
      sum += values[i];
      absolute += std::fabs(values[i]);
      if (!initial) {
        if (const auto wrong = check()) return wrong_at(i, *wrong);
      }
    }
  }
  return std::nullopt;
}

}  // namespace course
