// SPDX-License-Identifier: MIT
// What a GPU reports as an error of the launch, a CPU reports as a signal: an access outside every
// allocation, a stack that overflows. Signals that don't come out of a kernel are left as they
// were.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <span>

namespace cpu_backend {

// Once for the process; later calls do nothing.
void install_signal_handlers();

// Once for each OS thread that plays a multiprocessor: a signal may mean that its stack is full.
inline constexpr std::size_t signal_stack_bytes = 64 * 1024;
void use_signal_stack(std::span<std::byte> stack);

// Takes the block away from a kernel that does not come back by itself. The launch has failed
// already.
void interrupt_kernel(pthread_t thread);

}  // namespace cpu_backend
