// SPDX-License-Identifier: MIT
#include "cpu_backend/fiber_switch.hpp"

#include <cstdint>

namespace cpu_backend {

void begin_fiber_at(fiber& target, std::byte* top, void (*entry)()) {
  const auto address = reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(address);
  *--words = nullptr;  // entry's return address: it has none, and a debugger's backtrace ends here
  target.stack_pointer = words;
  target.instruction = reinterpret_cast<void*>(entry);
  target.frame_pointer = nullptr;
}

}  // namespace cpu_backend
