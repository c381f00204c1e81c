// SPDX-License-Identifier: MIT
// Vectors so long that an index of 31 or 32 bits goes wrong, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "testing/brief_tests.hpp"

namespace lab {

// A count beyond 2^32, and no multiple of a packet or a block.
inline constexpr std::size_t large_window = std::size_t{1} << 16;
inline constexpr std::size_t large_count = (std::size_t{1} << 32) + large_window + 33;

// The starts of the windows of such a vector in which a wrapped-around index lands or is missed:
// the front, around 2^31, around 2^32, and the end. The last two overlap.
inline constexpr std::size_t large_windows[] = {0, (std::size_t{1} << 31) - large_window / 2,
                                                (std::size_t{1} << 32) - large_window / 2,
                                                large_count - large_window};

// Why a test with so many bytes of device memory should not run here, or nothing if it can.
inline std::optional<std::string> why_no_large_data(std::uint64_t bytes) {
  const auto gigabytes = [](std::uint64_t count) {
    return std::to_string(count / 1'000'000'000) + " GB";
  };
  if (testing::brief_tests()) return "LAB_BRIEF_TESTS is set";
  if (describe_device().shares_host_memory) {
    return gigabytes(bytes) + " of device memory would be the host's own";
  }
  const std::uint64_t free = available_memory().device;
  if (free < bytes + (std::uint64_t{1} << 30)) {
    return gigabytes(bytes) + " of device memory are needed, and " + gigabytes(free) + " are free";
  }
  return std::nullopt;
}

// A vector of large_count elements: random whole numbers in [-magnitude, magnitude] in the windows,
// and elements of `fill` bytes everywhere else.
template <class T>
device_buffer<T> large_vector(int fill, std::int64_t magnitude, std::uint64_t seed) {
  device_buffer<T> vector(large_count);
  vector.fill_bytes(fill);
  for (const std::size_t first : large_windows) {
    vector.copy_from(small_integers<T>(large_window, magnitude, seed + first), first);
  }
  return vector;
}

}  // namespace lab
