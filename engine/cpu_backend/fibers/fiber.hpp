// SPDX-License-Identifier: MIT
// A fiber: a stack of its own and the place where it stopped. It never changes its OS thread.
#pragma once

#include <cstddef>
#include <span>

// jump_to_fiber(), of the processor or of Boost.Context: the build chooses by its include path.
#include "cpu_backend/fiber_switch.hpp"
#include "cpu_backend/fibers/fiber_state.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define CPU_BACKEND_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CPU_BACKEND_ADDRESS_SANITIZER
#endif
#endif

namespace cpu_backend {

// Gives `target` a stack (64 KiB and a guard page below it) and lets it begin in `entry`, which
// must never return. `index` staggers the stacks' tops: equal tops would share one set of the
// cache.
void create_fiber(fiber& target, fiber_stack& stack, void (*entry)(), unsigned index);

// Lets `target` begin in `entry` anew; whatever was on its stack is forgotten without a destructor.
void restart_fiber(fiber& target, void (*entry)());

// Adopts the stack that the calling OS thread runs on, so that fibers can switch back to it.
void adopt_thread_stack(fiber& target, fiber_stack& stack);

// Goes on where `to` stopped; `from` is done with its frames, and may only be restarted.
void abandon_fiber(fiber& from, fiber& to);

// Tells AddressSanitizer that the frames on this stack are gone, where nobody returned from them.
void forget_frames(std::span<std::byte> stack);

// The first thing a fiber does in its entry.
void fiber_has_begun();

// True if `address` lies in the guard page below the fiber's stack.
bool in_guard_page(const fiber& of, const void* address);

// Whether a fiber's stack may be there.
bool is_stack_memory(const void* address);

// Stops here as `from` and goes on where `to` stopped. Returns when something switches to `from`.
#ifdef CPU_BACKEND_ADDRESS_SANITIZER
void switch_fiber(fiber& from, fiber& to);  // has to be told of every switch
#else
inline void switch_fiber(fiber& from, fiber& to) { jump_to_fiber(from, to); }
#endif

}  // namespace cpu_backend
