// SPDX-License-Identifier: MIT
// What the programs of chapters 02 to 04 reduce, and what is wrong with what they make of it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/reference.hpp"

namespace lab {

// Two vectors of n elements, on the host and on the device. Floats are spread over [-1, 1). The
// products of integers need more than half of T's bits where n allows it, and no sum of them
// overflows T.
template <class T>
class reduction_problem {
 public:
  reduction_problem(std::size_t n, std::uint64_t seed)
      : a_(numbers(n, seed)), b_(numbers(n, ~seed)) {}

  std::size_t size() const { return a_.size(); }
  const T* a() const { return device_a_.data(); }
  const T* b() const { return device_b_.data(); }

  // What is wrong with a dot product of a and b, or with a sum, minimum or maximum of a, if
  // anything is. An integer must be equal. A float sum must lie within the proven bound, where no
  // term passes through more than `longest_chain` rounded operations (sum_error_bound). The right
  // results are computed at the first call.
  std::optional<std::string> wrong_dot(T got, std::uint64_t longest_chain) {
    if (!dot_) dot_ = reference_dot();
    return wrong_sum_of(*dot_, got, longest_chain);
  }
  std::optional<std::string> wrong_sum(T got, std::uint64_t longest_chain) {
    if (!sum_) sum_ = reference_sum();
    return wrong_sum_of(*sum_, got, longest_chain);
  }
  // Of no elements, `identity` is the right result.
  std::optional<std::string> wrong_minimum(T got, T identity) const {
    return unequal(got, a_.empty() ? identity : *std::min_element(a_.begin(), a_.end()));
  }
  std::optional<std::string> wrong_maximum(T got, T identity) const {
    return unequal(got, a_.empty() ? identity : *std::max_element(a_.begin(), a_.end()));
  }

 private:
  static std::vector<T> numbers(std::size_t n, std::uint64_t seed) {
    if constexpr (std::floating_point<T>) {
      return spread_numbers<T>(n, seed);
    } else {
      return small_integers<T>(n, largest_magnitude(n), seed);
    }
  }

  // The largest power of two m for which n products of numbers up to m stay below T's largest.
  static std::int64_t largest_magnitude(std::size_t n) {
    std::int64_t magnitude = std::int64_t{1} << (4 * sizeof(T) - 1);
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    while (magnitude > 1 && n >= limit / (magnitude * magnitude)) magnitude /= 2;
    return magnitude;
  }

  auto reference_dot() const {
    if constexpr (std::floating_point<T>) {
      return compensated_dot<T>(a_, b_);
    } else {
      return static_cast<T>(exact_dot<T>(a_, b_));
    }
  }
  auto reference_sum() const {
    if constexpr (std::floating_point<T>) {
      return compensated_sum<T>(a_);
    } else {
      return static_cast<T>(exact_sum<T>(a_));
    }
  }
  using reference = std::conditional_t<std::floating_point<T>, sum_reference, T>;

  static std::optional<std::string> wrong_sum_of(const reference& right, T got,
                                                 std::uint64_t longest_chain) {
    if constexpr (std::floating_point<T>) {
      return outside_bound(got, longest_chain, right);
    } else {
      return unequal(got, right);
    }
  }

  std::vector<T> a_;
  std::vector<T> b_;
  device_buffer<T> device_a_{a_};
  device_buffer<T> device_b_{b_};
  std::optional<reference> dot_;
  std::optional<reference> sum_;
};

}  // namespace lab
