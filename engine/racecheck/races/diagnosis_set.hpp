// SPDX-License-Identifier: MIT
// What a race lacks, as a set over the table of diagnoses (diagnoses.json). It is empty if nothing
// connects the two threads.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "racecheck/races/diagnosis_table.hpp"

namespace racecheck {

inline const diagnosis_row& row_of(diagnosis code) {
  return diagnosis_table[static_cast<std::size_t>(code)];
}

class diagnosis_set {
 public:
  constexpr diagnosis_set() = default;
  constexpr diagnosis_set(std::initializer_list<diagnosis> all) {
    for (const diagnosis each : all) add(each);
  }

  constexpr bool has(diagnosis code) const { return (bits_ & bit(code)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }

  // Adds it if `is_there`.
  constexpr void add(diagnosis code, bool is_there = true) {
    if (is_there) bits_ |= bit(code);
  }
  constexpr void add(const diagnosis_set& others) { bits_ |= others.bits_; }
  constexpr diagnosis_set without(const diagnosis_set& others) const {
    return of_bits(bits_ & ~others.bits_);
  }
  constexpr diagnosis_set common_with(const diagnosis_set& others) const {
    return of_bits(bits_ & others.bits_);
  }

  // Whether repairing all of `other`, which is more, repairs this as well.
  constexpr bool is_part_of(const diagnosis_set& other) const {
    return !empty() && *this != other && without(other).empty();
  }

  auto operator<=>(const diagnosis_set&) const = default;

 private:
  static_assert(diagnosis_table.size() <= 64);
  static constexpr std::uint64_t bit(diagnosis code) {
    return std::uint64_t{1} << static_cast<unsigned>(code);
  }
  static constexpr diagnosis_set of_bits(std::uint64_t bits) {
    diagnosis_set made;
    made.bits_ = bits;
    return made;
  }

  std::uint64_t bits_ = 0;
};

// What a way over atomics can lack.
inline constexpr diagnosis_set lacks_of_ways = {
    diagnosis::missing_acquire, diagnosis::missing_release, diagnosis::scope_too_narrow,
    diagnosis::missing_barrier_before, diagnosis::missing_barrier_after};

// Whether what would lack all that a signal has, a release, an acquire and the barriers of both
// blocks, was meant as none: it is an atomic that happened to lie between the two threads.
constexpr bool is_no_signal(const diagnosis_set& lacks) {
  constexpr diagnosis_set all = {diagnosis::missing_acquire, diagnosis::missing_release,
                                 diagnosis::missing_barrier_before,
                                 diagnosis::missing_barrier_after};
  return lacks.common_with(all) == all;
}

}  // namespace racecheck
