// SPDX-License-Identifier: MIT
// What AddressSanitizer has to be told about fibers; without it, nothing.
#pragma once

#include <cstddef>
#include <span>

#include "cpu_backend/fibers/fiber.hpp"

#ifdef CPU_BACKEND_ADDRESS_SANITIZER

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

namespace cpu_backend {

inline constexpr std::size_t stack_size = 256 * 1024;  // red zones make frames several times larger

// `from` is nullptr where its frames are given up; `now` where it has none yet.
inline void before_switch(fiber* from, const fiber& to) {
  __sanitizer_start_switch_fiber(from ? &from->stack->sanitizer_stack : nullptr, to.stack->bottom,
                                 to.stack->bytes);
}
inline void after_switch(fiber* now) {
  __sanitizer_finish_switch_fiber(now ? now->stack->sanitizer_stack : nullptr, nullptr, nullptr);
}
inline void tell_sanitizer_of_forgotten_frames(std::span<std::byte> stack) {
  __asan_unpoison_memory_region(stack.data(), stack.size());
}
inline void tell_sanitizer_of_thread_stack(fiber_stack& stack) {
  pthread_attr_t attributes;
  void* bottom = nullptr;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &bottom, &stack.bytes);
    pthread_attr_destroy(&attributes);
  }
  stack.bottom = static_cast<std::byte*>(bottom);
}

}  // namespace cpu_backend

#else

namespace cpu_backend {

inline constexpr std::size_t stack_size = 64 * 1024;

inline void before_switch(fiber*, const fiber&) {}
inline void after_switch(fiber*) {}
inline void tell_sanitizer_of_forgotten_frames(std::span<std::byte>) {}
inline void tell_sanitizer_of_thread_stack(fiber_stack&) {}

}  // namespace cpu_backend

#endif
