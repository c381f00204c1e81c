// SPDX-License-Identifier: MIT
#include "cpu_backend/fiber_switch.hpp"

#include <cstdint>

namespace cpu_backend {

void begin_fiber_at(fiber& target, std::byte* top, void (*entry)()) {
  constexpr std::uintptr_t stack_alignment = 16;
  const auto address = reinterpret_cast<std::uintptr_t>(top) & ~(stack_alignment - 1);
  target.stack_pointer = reinterpret_cast<void*>(address);
  target.instruction = reinterpret_cast<void*>(entry);
  target.frame_pointer = nullptr;
}

}  // namespace cpu_backend
