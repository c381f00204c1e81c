// SPDX-License-Identifier: MIT
// Test data: the same on every machine, from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace lab {

// Whole numbers below this are exact in a float, and so is every sum of which no partial sum
// reaches it, in whatever order it is added up.
inline constexpr std::int64_t exact_in_float = std::int64_t{1} << 24;

// 64 random bits for `index`, the output function of SplitMix64 (Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", 2014). A function of its arguments alone: element i
// is the same whatever the length of the vector.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = seed * 0xd1342543de82ef95 + (index + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

// A whole number in [-magnitude, magnitude].
constexpr std::int64_t random_integer(std::uint64_t seed, std::uint64_t index,
                                      std::int64_t magnitude) {
  const auto choices = static_cast<std::uint64_t>(2 * magnitude + 1);
  return static_cast<std::int64_t>(random_bits(seed, index) % choices) - magnitude;
}

// `count` whole numbers in [-magnitude, magnitude], as T.
template <class T>
std::vector<T> small_integers(std::size_t count, std::int64_t magnitude, std::uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(random_integer(seed, i, magnitude));
  }
  return values;
}

// The largest magnitude m with which the dot product of two vectors of `count` whole numbers in
// [-m, m] is exact in float: count * m * m < 2^24. Throws std::invalid_argument where even 1 is too
// large, that is, from 2^24 elements on.
inline std::int64_t exact_dot_magnitude(std::size_t count) {
  if (count >= static_cast<std::size_t>(exact_in_float)) {
    throw std::invalid_argument("a float dot product of so many elements is not exact");
  }
  std::int64_t magnitude = 1;
  while (magnitude < 1000 &&
         static_cast<std::int64_t>(count) * (magnitude + 1) * (magnitude + 1) < exact_in_float) {
    ++magnitude;
  }
  return magnitude;
}

// `count` numbers spread evenly over [-1, 1), multiples of 2^-23: exact in a float.
template <class T>
std::vector<T> spread_numbers(std::size_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>(
        static_cast<double>(static_cast<std::int64_t>(random_bits(seed, i) >> 40) - (1 << 23)) /
        (1 << 23));
  }
  return values;
}

// Two vectors whose products are large and cancel: the second half repeats the first half's
// products with the opposite sign, each then moved by a little. The dot product is tiny beside the
// sum of |a_i b_i|, so a tolerance that is relative to the dot product itself rejects right
// results, and one that is not proven accepts wrong ones.
template <class T>
std::pair<std::vector<T>, std::vector<T>> cancelling_vectors(std::size_t count,
                                                             std::uint64_t seed) {
  std::vector<T> a = spread_numbers<T>(count, seed);
  std::vector<T> b = spread_numbers<T>(count, ~seed);
  const std::size_t half = count / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const T scale = static_cast<T>(std::int64_t{1} << (random_bits(seed, count + i) % 20));
    a[i] *= scale;
    a[half + i] = a[i];
    b[half + i] = -b[i] + b[half + i] / static_cast<T>(1 << 20);
  }
  return {std::move(a), std::move(b)};
}

}  // namespace lab
