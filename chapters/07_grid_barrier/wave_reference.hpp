// SPDX-License-Identifier: MIT
// The wave on the host: in 64-bit numbers, and from a formula of another shape than the kernel's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/exact_data.hpp"

namespace course {

// Two successive steps of a wave. All heights are from -1000 to 1000 at first.
struct wave_heights {
  std::vector<int> now;
  std::vector<int> before;
};

inline wave_heights random_wave(unsigned width, unsigned height, std::uint64_t seed) {
  const std::size_t cells = std::size_t{width} * height;
  return {lab::small_integers<int>(cells, 1000, seed),
          lab::small_integers<int>(cells, 1000, ~seed)};
}

// `wave` after `steps` steps.
inline wave_heights reference_wave(wave_heights wave, unsigned width, unsigned height,
                                   unsigned steps) {
  const auto wrapped = [](std::int64_t value) {
    return static_cast<int>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
  };
  for (unsigned step = 0; step < steps; ++step) {
    for (std::size_t y = 1; y + 1 < height; ++y) {
      for (std::size_t x = 1; x + 1 < width; ++x) {
        std::int64_t around = 0;
        for (const auto& [dx, dy] : {std::pair{0, -1}, {0, 1}, {-1, 0}, {1, 0}}) {
          around += wave.now[(y + static_cast<std::size_t>(dy)) * width + x +
                             static_cast<std::size_t>(dx)];
        }
        const std::int64_t sum = wrapped(around);
        const std::int64_t half = sum >= 0 ? sum / 2 : -((1 - sum) / 2);  // rounded down
        int& next = wave.before[y * width + x];
        next = wrapped(half - next);
      }
    }
    std::swap(wave.now, wave.before);
  }
  return wave;
}

}  // namespace course
