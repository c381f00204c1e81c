// SPDX-License-Identifier: MIT
// As much of x86-64's instruction set as it takes to say which memory an instruction accesses: the
// processor does not say how many bytes, and of an address that no memory can have not even which.
#pragma once

#include <array>
#include <cstdint>

namespace cpu_backend {

struct x86_registers {
  std::array<std::uint64_t, 16> general{};  // in the order of their numbers: rax, rcx, ..., r15
  std::uint64_t thread_base = 0;            // fs
};

struct x86_access {
  bool has_address = false;
  std::uint64_t address = 0;
  unsigned bytes = 0;  // 0: not known
  bool writes = false;
  bool is_atomic = false;
  bool divides_by_zero = false;  // an integer division
};

// What the instruction is about to do. An unknown one gives what nothing is known about.
x86_access decode_x86(const std::uint8_t* instruction, const x86_registers& registers);

}  // namespace cpu_backend
