// SPDX-License-Identifier: MIT
// Fewer launches where each takes a thousand times as long: the test setups that run under
// compute-sanitizer set LAB_BRIEF_TESTS.
#pragma once

#include <cstdlib>
#include <vector>

namespace lab {

inline bool brief_tests() { return std::getenv("LAB_BRIEF_TESTS") != nullptr; }

// `all`, or `few` of them in a brief run.
inline std::vector<unsigned> all_or_few(std::vector<unsigned> all, std::vector<unsigned> few) {
  return brief_tests() ? few : all;
}

// Every block size from 1 to 1024; in a brief run those at a warp's edges and at powers of two.
inline std::vector<unsigned> every_block_size() {
  constexpr unsigned largest_block = 1024;
  std::vector<unsigned> sizes;
  for (unsigned size = 1; size <= largest_block; ++size) {
    const auto near_power_of_two = [](unsigned n) { return (n & (n - 1)) == 0; };
    if (!brief_tests() || near_power_of_two(size) || near_power_of_two(size + 1) ||
        near_power_of_two(size - 1)) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

}  // namespace lab
