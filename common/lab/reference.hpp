// SPDX-License-Identifier: MIT
// Results to compare with, computed on the host in ways that have nothing in common with a kernel,
// and the bound on how far a right float result may be from them.
#pragma once

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

namespace lab {

// The dot product of two vectors of integers, in 128 bits, so that no product and no sum can
// overflow. Both have the same length. Throws std::overflow_error if the result needs more than 64.
template <std::integral T>
std::int64_t exact_dot(std::span<const T> a, std::span<const T> b) {
  __extension__ using int128 = __int128;
  int128 sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<int128>(a[i]) * b[i];
  if (sum > std::numeric_limits<std::int64_t>::max() ||
      sum < std::numeric_limits<std::int64_t>::min()) {
    throw std::overflow_error("the exact dot product does not fit in 64 bits");
  }
  return static_cast<std::int64_t>(sum);
}

struct dot_reference {
  double value = 0;     // sum of a_i b_i
  double absolute = 0;  // sum of |a_i b_i|
};

// The dot product of two vectors of floating-point numbers, in long double with compensated
// summation (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
// 1974). Both have the same length. For whole numbers with sums below 2^53 the value is exact.
template <std::floating_point T>
dot_reference compensated_dot(std::span<const T> a, std::span<const T> b) {
  long double sum = 0;
  long double lost = 0;
  long double absolute = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double product = static_cast<long double>(a[i]) * b[i];
    const long double next = sum + product;
    lost += std::fabs(sum) >= std::fabs(product) ? (sum - next) + product : (product - next) + sum;
    sum = next;
    absolute += std::fabs(product);
  }
  return {.value = static_cast<double>(sum + lost), .absolute = static_cast<double>(absolute)};
}

// How far a dot product computed in T may be from the exact one: gamma_m * sum |a_i b_i| with
// gamma_m = m u / (1 - m u), u half the distance from 1 to the next T (2^-24 for float), where no
// term passes through more than m rounded operations: its product, and the additions on the longest
// way from a term to the result (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd
// edition, 2002, section 3.1). Proven, so it never rejects a right result, whatever the data.
// The reference's own rounding is added. Throws std::invalid_argument if m u >= 1.
template <std::floating_point T>
double dot_error_bound(std::uint64_t m, const dot_reference& reference) {
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const double mu = static_cast<double>(m) * unit;
  if (mu >= 1) throw std::invalid_argument("no bound holds for a chain of so many additions");
  const double reference_error =
      std::numeric_limits<double>::epsilon() * std::fabs(reference.value);
  return mu / (1 - mu) * reference.absolute + reference_error;
}

// "element 5 is 3, not 4" for the first element that differs, nothing where all are equal. `got`
// and `expected` have the same length. NaN equals nothing, so a NaN is always reported.
template <class T>
std::optional<std::string> first_difference(std::span<const T> got, std::span<const T> expected) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    std::ostringstream text;
    text.precision(std::numeric_limits<T>::max_digits10);
    text << "element " << i << " is " << +got[i] << ", not " << +expected[i];
    return text.str();
  }
  return std::nullopt;
}

}  // namespace lab
