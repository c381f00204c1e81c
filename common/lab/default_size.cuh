// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace lab {

// The default of an option that says how much work there is: a GPU does in milliseconds what takes
// the CPU backend half a minute.
constexpr std::uint64_t default_size([[maybe_unused]] std::uint64_t on_gpu,
                                     [[maybe_unused]] std::uint64_t on_cpu) {
#ifdef CPU_BACKEND_HERE
  return on_cpu;
#else
  return on_gpu;
#endif
}

}  // namespace lab
