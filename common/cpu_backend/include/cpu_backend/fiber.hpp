// SPDX-License-Identifier: MIT
// A fiber: a stack of its own and the place where it stopped. It never changes its OS thread.
#pragma once

#include <cstddef>

namespace cpu_backend {

struct fiber {
  void* stopped_at = nullptr;  // what switch_fiber needs to go on; a stack pointer or an fcontext_t
  std::byte* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  void* sanitizer_stack = nullptr;  // AddressSanitizer's shadow of this fiber's frames
};

// Gives `target` a stack (64 KiB and a guard page below it) and lets it begin in `entry`, which
// must never return. `index` staggers the stacks' tops: equal tops would share one set of the
// cache.
void create_fiber(fiber& target, void (*entry)(), unsigned index);

// Lets `target` begin in `entry` anew; whatever was on its stack is forgotten without a destructor.
void restart_fiber(fiber& target, void (*entry)(), unsigned index);

void destroy_fiber(fiber& target);

// Adopts the stack that the calling OS thread runs on, so that fibers can switch back to it.
void adopt_thread_stack(fiber& target);

// Stops here as `from` and goes on where `to` stopped. Returns when something switches to `from`.
void switch_fiber(fiber& from, fiber& to);

// The same, but `from` is done with its frames: it may only be restarted.
void abandon_fiber(fiber& from, fiber& to);

// The first thing a fiber does in its entry.
void fiber_has_begun();

// True if `address` lies in the guard page below the fiber's stack.
bool in_guard_page(const fiber& of, const void* address);

}  // namespace cpu_backend
