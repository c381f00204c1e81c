// SPDX-License-Identifier: MIT
// What a GPU reports as an error of the launch, a CPU reports as a signal: an access outside every
// allocation, a stack that overflows. Signals that don't come out of a kernel are left as they
// were.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <span>

namespace cpu_backend {

// Handles signals as long as it lives, and then leaves the handlers as they were: a test framework
// may install its own between two launches. One at a time in the process.
class kernel_signal_handlers {
 public:
  kernel_signal_handlers();
  ~kernel_signal_handlers();
  kernel_signal_handlers(const kernel_signal_handlers&) = delete;
  kernel_signal_handlers& operator=(const kernel_signal_handlers&) = delete;
};

// Once for each OS thread that plays a multiprocessor: a signal may mean that its stack is full.
inline constexpr std::size_t signal_stack_bytes = 64 * 1024;
void use_signal_stack(std::span<std::byte> stack);

// What a signal's handler gets as its third parameter, `context`, says of the instruction that was
// interrupted; and after a call to an address where no code is, where that would have returned to,
// else nullptr.
const void* instruction_of(const void* context);
const void* return_address_of_bad_call(const void* context);

// Takes the block away from a kernel that does not come back by itself. The launch has failed
// already.
void interrupt_kernel(pthread_t thread);

}  // namespace cpu_backend
