// SPDX-License-Identifier: MIT
// What a fiber consists of.
#pragma once

#include <cstddef>

namespace cpu_backend {

struct fiber_stack {
  std::byte* bottom = nullptr;
  std::size_t bytes = 0;
  void* sanitizer_stack = nullptr;  // AddressSanitizer's shadow of the frames on it
  unsigned index = 0;
};

struct fiber {
  void* stack_pointer = nullptr;  // where it stopped; Boost's fcontext_t, if that switches
  void* instruction = nullptr;
  void* frame_pointer = nullptr;
  fiber_stack* stack = nullptr;
};

}  // namespace cpu_backend
