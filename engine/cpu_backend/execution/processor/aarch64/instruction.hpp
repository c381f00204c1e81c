// SPDX-License-Identifier: MIT
// As much of AArch64's instruction set as it takes to say which memory an instruction accesses: the
// loads, stores and atomics, but for those of SVE. (Arm Architecture Reference Manual, "Loads and
// Stores".)
#pragma once

#include <array>
#include <cstdint>

#include "cpu_backend/execution/signal_context.hpp"

namespace cpu_backend {

struct aarch64_registers {
  std::array<std::uint64_t, 31> general{};  // x0 to x30
  std::uint64_t stack_pointer = 0;
};

// What the instruction is about to do. An unknown one gives what nothing is known about.
memory_operand decode_aarch64(std::uint32_t instruction, const aarch64_registers& registers);

}  // namespace cpu_backend
