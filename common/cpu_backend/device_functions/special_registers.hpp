// SPDX-License-Identifier: MIT
// What kernels read from PTX's special registers on a GPU, where inline PTX does it: %smid and
// %globaltimer.
#pragma once

#include <chrono>
#include <cstdint>

#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

// The number of the multiprocessor, that is of the OS thread, that runs the calling thread's block.
inline std::uint32_t current_multiprocessor(place at = CPU_BACKEND_HERE) {
  return in_kernel("current_multiprocessor()", at).number();
}

// Nanoseconds on a steady clock of the whole machine.
inline std::uint64_t device_nanoseconds() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

}  // namespace cpu_backend
