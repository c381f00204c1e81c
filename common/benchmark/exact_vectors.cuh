// SPDX-License-Identifier: MIT
// Long vectors whose sums are known exactly, wherever they are cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"

namespace benchmarks {

// Sums are known from one multiple of this to another.
inline constexpr std::size_t grain = 1024;

// Sixteen whole numbers from -8 to 8 without 0 out of one random number. Without 0, so that every
// term counts in a sum, and every product in a dot product.
constexpr int small_number(std::uint64_t sixteen, std::size_t place) {
  const auto digit = static_cast<int>(sixteen >> (4 * place) & 15);
  return digit < 8 ? digit - 8 : digit - 7;
}

// Two vectors of whole numbers on the device, and on the host the exact sums, dot products and
// minima of every stretch of them that begins and ends at a multiple of `grain`.
//
// Is a float's sum of them exact? A partial sum of up to 2^24 / 8 terms, or of up to 2^24 / 64
// products, is, whatever they are. A longer one would have to leave the range of exact floats: the
// numbers are random with mean 0, so 2^30 products add up to about 2^20, and a partial sum beyond
// 2^24 lies twenty standard deviations away. So a result is compared with ==, without a tolerance:
// that never accepts a wrong one, and would at worst refuse a right one.
template <class T>
class exact_vectors {
 public:
  // `count` is a multiple of grain. Errors: std::invalid_argument, lab::cuda_error.
  exact_vectors(std::size_t count, std::uint64_t seed) : a_(count), b_(count) {
    (void)grains(count);
    constexpr std::size_t most_at_once = std::size_t{1} << 20;
    std::vector<T> a;
    std::vector<T> b;
    for (std::size_t first = 0; first < count; first += most_at_once) {
      const std::size_t some = std::min(most_at_once, count - first);
      a.resize(some);
      b.resize(some);
      for (std::size_t i = 0; i < some; i += grain) {
        add_grain(seed, first + i, std::span(a).subspan(i, grain), std::span(b).subspan(i, grain));
      }
      a_.copy_from(a, first);
      b_.copy_from(b, first);
    }
  }

  std::size_t size() const { return a_.size(); }
  const T* a(std::size_t first) const { return a_.data() + first; }
  const T* b(std::size_t first) const { return b_.data() + first; }

  // The `n` elements from `first` on, both multiples of grain.
  std::int64_t sum_of_a(std::size_t first, std::size_t n) const {
    return difference(sums_, first, n);
  }
  std::int64_t dot(std::size_t first, std::size_t n) const { return difference(dots_, first, n); }
  std::int64_t minimum_of_a(std::size_t first, std::size_t n) const {
    const auto begin = minima_.begin() + grains(first);
    return *std::min_element(begin, begin + grains(n));
  }

 private:
  static std::ptrdiff_t grains(std::size_t count) {
    if (count % grain != 0) {
      throw std::invalid_argument("the vectors are known in multiples of " + std::to_string(grain) +
                                  ", and " + std::to_string(count) + " is none");
    }
    return static_cast<std::ptrdiff_t>(count / grain);
  }

  void add_grain(std::uint64_t seed, std::size_t first, std::span<T> a, std::span<T> b) {
    std::int64_t sum = 0;
    std::int64_t dot = 0;
    int minimum = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < grain; i += 16) {
      const std::uint64_t index = (first + i) / 16;
      const std::uint64_t sixteen_of_a = lab::random_bits(seed, index);
      const std::uint64_t sixteen_of_b = lab::random_bits(~seed, index);
      for (std::size_t place = 0; place < 16; ++place) {
        const int x = small_number(sixteen_of_a, place);
        const int y = small_number(sixteen_of_b, place);
        a[i + place] = static_cast<T>(x);
        b[i + place] = static_cast<T>(y);
        sum += x;
        dot += x * y;
        minimum = std::min(minimum, x);
      }
    }
    sums_.push_back(sums_.back() + sum);
    dots_.push_back(dots_.back() + dot);
    minima_.push_back(minimum);
  }

  static std::int64_t difference(const std::vector<std::int64_t>& running, std::size_t first,
                                 std::size_t n) {
    return running[grains(first + n)] - running[grains(first)];
  }

  lab::device_buffer<T> a_;
  lab::device_buffer<T> b_;
  std::vector<std::int64_t> sums_ = {0};  // Element k: of the first k grains.
  std::vector<std::int64_t> dots_ = {0};
  std::vector<int> minima_;  // Element k: of grain k.
};

// `value` as T. Throws std::logic_error where T cannot hold it exactly.
template <class T>
T exactly(std::int64_t value) {
  constexpr int digits = std::min(std::numeric_limits<T>::digits, 62);
  constexpr std::int64_t limit = std::int64_t{1} << digits;
  if (value > limit || value < -limit) {
    throw std::logic_error("the right result " + std::to_string(value) + " is not exact");
  }
  return static_cast<T>(value);
}

}  // namespace benchmarks
