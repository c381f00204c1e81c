// SPDX-License-Identifier: MIT
// The clock of a multiprocessor. Here it counts nanoseconds: the device says that it runs at 1 GHz.
// (In a kernel, translate.py makes device_clock() of clock(), which C has for another purpose.)
#pragma once

#include <time.h>

#include "cpu_backend/device_functions/special_registers.hpp"

inline long long clock64(cpu_backend::place at = CPU_BACKEND_HERE) {
  return static_cast<long long>(cpu_backend::device_nanoseconds(at));
}

namespace cpu_backend {
inline clock_t device_clock(place at = CPU_BACKEND_HERE) {
  return static_cast<clock_t>(device_nanoseconds(at));
}
}  // namespace cpu_backend
