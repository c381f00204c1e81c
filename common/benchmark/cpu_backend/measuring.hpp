// SPDX-License-Identifier: MIT
// What both benchmarks of the CPU backend measure with, and the loop that they measure against.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>

inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

inline double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

__attribute__((noinline)) inline void serial_add(const int* a, const int* b, int* c,
                                                 std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}
