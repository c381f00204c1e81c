// SPDX-License-Identifier: MIT
// How much tests do, by two variables of the environment. Without them: all
// sizes and numbers of launches, which takes a GPU seconds.
//   LAB_FEW_LAUNCHES  fewer sizes and launches of a kind, and still the largest: on the CPU backend
//   LAB_BRIEF_TESTS   neither many launches nor large sizes: under compute-sanitizer and the race
//                     checker, where a launch takes a thousand times as long, or if time is short
// The mutants are rejected in the brief form: what it leaves out adds sizes, and not kinds of
// mistakes.
#pragma once

#include <cstdlib>
#include <vector>

namespace testing {

inline bool brief_tests() { return std::getenv("LAB_BRIEF_TESTS") != nullptr; }

inline bool few_launches() { return brief_tests() || std::getenv("LAB_FEW_LAUNCHES") != nullptr; }

// `all`, or `few` of them.
inline std::vector<unsigned> all_or_few(std::vector<unsigned> all, std::vector<unsigned> few) {
  return few_launches() ? few : all;
}

// Every block size from 1 to 1024, or those at a warp's edges and at powers of two, or some of
// them.
inline std::vector<unsigned> every_block_size() {
  if (brief_tests()) return {1, 2, 3, 31, 32, 33, 64, 65, 256, 257, 1023, 1024};
  constexpr unsigned largest_block = 1024;
  std::vector<unsigned> sizes;
  for (unsigned size = 1; size <= largest_block; ++size) {
    const auto near_power_of_two = [](unsigned n) { return (n & (n - 1)) == 0; };
    if (!few_launches() || near_power_of_two(size) || near_power_of_two(size + 1) ||
        near_power_of_two(size - 1)) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

}  // namespace testing
