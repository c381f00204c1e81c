// SPDX-License-Identifier: MIT
// Questions about the current device, for code that is compiled without CUDA's headers.
#pragma once

#include <cstdint>

#include "checked_runtime/device.hpp"

namespace lab {

using namespace checked;

// Bytes that can be allocated now.
struct free_memory {
  std::uint64_t device = 0;
  std::uint64_t host = 0;
};

free_memory available_memory();

// Throws std::runtime_error, one sentence, where so many bytes are not free now. Call it before the
// first allocation: a host that hands out more memory than it has kills a program that uses it.
void require_memory(std::uint64_t device_bytes, std::uint64_t host_bytes);

}  // namespace lab
