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

// The sum of term(i) over i < count, in 128 bits, so that no term and no sum can overflow. Throws
// std::overflow_error, with `name` in its sentence, if the result needs more than 64.
template <class Term>
std::int64_t exact_sum_of(std::size_t count, Term term, const char* name) {
  __extension__ using int128 = __int128;
  int128 sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += term(i);
  if (sum > std::numeric_limits<std::int64_t>::max() ||
      sum < std::numeric_limits<std::int64_t>::min()) {
    throw std::overflow_error(std::string("the exact ") + name + " does not fit in 64 bits");
  }
  return static_cast<std::int64_t>(sum);
}

// The sum of a vector of integers, and the dot product of two of the same length.
template <std::integral T>
std::int64_t exact_sum(std::span<const T> values) {
  return exact_sum_of(
      values.size(), [&](std::size_t i) { return values[i]; }, "sum");
}
template <std::integral T>
std::int64_t exact_dot(std::span<const T> a, std::span<const T> b) {
  __extension__ using int128 = __int128;
  return exact_sum_of(
      a.size(), [&](std::size_t i) { return static_cast<int128>(a[i]) * b[i]; }, "dot product");
}

// A sum of floating-point terms: of a_i b_i, or of a_i.
struct sum_reference {
  double value = 0;     // the sum of the terms
  double absolute = 0;  // the sum of their absolute values
};

// The sum of term(i) over i < count, in long double with compensated summation (Neumaier,
// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974). For whole
// numbers with sums below 2^53 the value is exact.
template <class Term>
sum_reference compensated_sum_of(std::size_t count, Term term) {
  long double sum = 0;
  long double lost = 0;
  long double absolute = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const long double next_term = term(i);
    const long double next = sum + next_term;
    lost += std::fabs(sum) >= std::fabs(next_term) ? (sum - next) + next_term
                                                   : (next_term - next) + sum;
    sum = next;
    absolute += std::fabs(next_term);
  }
  return {.value = static_cast<double>(sum + lost), .absolute = static_cast<double>(absolute)};
}

// The sum of a vector, and the dot product of two vectors of the same length.
template <std::floating_point T>
sum_reference compensated_sum(std::span<const T> values) {
  return compensated_sum_of(values.size(), [&](std::size_t i) { return values[i]; });
}
template <std::floating_point T>
sum_reference compensated_dot(std::span<const T> a, std::span<const T> b) {
  return compensated_sum_of(a.size(),
                            [&](std::size_t i) { return static_cast<long double>(a[i]) * b[i]; });
}

// How far a sum computed in T may be from the exact one: gamma_m * sum |t_i| over its terms t_i,
// with gamma_m = m u / (1 - m u), u half the distance from 1 to the next T (2^-24 for float), where
// no term passes through more than m rounded operations: its product, if it is one, and the
// additions on the longest way from a term to the result (Higham, "Accuracy and Stability of
// Numerical Algorithms", 2nd edition, 2002, section 3.1). Proven, so it never rejects a right
// result, whatever the data. The reference's own rounding is added. Throws std::invalid_argument if
// m u >= 1.
template <std::floating_point T>
double sum_error_bound(std::uint64_t m, const sum_reference& reference) {
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  const double mu = static_cast<double>(m) * unit;
  if (mu >= 1) throw std::invalid_argument("no bound holds for a chain of so many additions");
  const double reference_error =
      std::numeric_limits<double>::epsilon() * std::fabs(reference.value);
  return mu / (1 - mu) * reference.absolute + reference_error;
}

// "got 1.5, more than 0.01 from 2" for a sum outside its bound, nothing for one within it. NaN is
// within none.
template <std::floating_point T>
std::optional<std::string> outside_bound(T got, std::uint64_t m, const sum_reference& reference) {
  const double bound = sum_error_bound<T>(m, reference);
  if (std::fabs(static_cast<double>(got) - reference.value) <= bound) return std::nullopt;
  std::ostringstream text;
  text.precision(std::numeric_limits<T>::max_digits10);
  text << "got " << got << ", more than " << bound << " from " << reference.value;
  return text.str();
}

// "got 3, not 4" for a result that differs, nothing for one that is equal.
template <class T>
std::optional<std::string> unequal(T got, T expected) {
  if (got == expected) return std::nullopt;
  std::ostringstream text;
  text.precision(std::numeric_limits<T>::max_digits10);
  text << "got " << +got << ", not " << +expected;
  return text.str();
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
