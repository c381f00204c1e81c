// SPDX-License-Identifier: MIT
// What kernels read from PTX's special registers on a GPU, where inline PTX does it: %smid and
// %globaltimer. And the clock of a multiprocessor, which counts nanoseconds here: the device says
// that it runs at 1 GHz.
#pragma once

#include <time.h>

#include <cstdint>

#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

// The number of the multiprocessor, that is of the OS thread, that runs the calling thread's block.
inline std::uint32_t current_multiprocessor(place at = CPU_BACKEND_HERE) {
  return in_kernel("current_multiprocessor()", at).number();
}

// Nanoseconds on a steady clock of the whole machine.
inline std::uint64_t device_nanoseconds(place at = CPU_BACKEND_HERE) {
  if (this_multiprocessor) form::used("device", "clock", &at);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace cpu_backend

inline long long clock64(cpu_backend::place at = CPU_BACKEND_HERE) {
  return static_cast<long long>(cpu_backend::device_nanoseconds(at));
}

namespace cpu_backend {
inline clock_t device_clock(place at = CPU_BACKEND_HERE) {
  return static_cast<clock_t>(device_nanoseconds(at));
}
}  // namespace cpu_backend
