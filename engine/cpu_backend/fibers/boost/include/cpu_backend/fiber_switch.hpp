// SPDX-License-Identifier: MIT
// The switch between fibers by Boost.Context, which runs on every processor.
#pragma once

#include <cstddef>

#include "cpu_backend/fibers/fiber_state.hpp"

namespace cpu_backend {

void jump_to_fiber(fiber& from, fiber& to);

// Lets `target` begin in `entry`, with the stack below `top`.
void begin_fiber_at(fiber& target, std::byte* top, void (*entry)());

}  // namespace cpu_backend
