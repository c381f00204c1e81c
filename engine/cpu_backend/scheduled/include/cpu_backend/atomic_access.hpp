// SPDX-License-Identifier: MIT
// Every atomic operation of a kernel passes through here, and every fence: atomicAdd() and its kin,
// cuda::atomic and cuda::atomic_ref. On the host they work as well, as those of libcu++ do.
//
// Here memory is read and written by the backend's library, which is not instrumented.
#pragma once

#include <atomic>
#include <cstdint>

#include "cpu_backend/device_functions/atomic_word.hpp"
#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend {

void fence(std::memory_order order, memory_scope scope, const place& at);

// Tells the observer what kind of operation it was. A failed comparison loads.
void observe_atomic(const void* address, unsigned bytes, observer::access kind,
                    const memory_semantics& how, bool changed_memory, const place& at);
// Follows a call of atomicExch() whose value is not used: see translate/runtime_calls.py.
void old_value_is_unused();
std::uint64_t read_memory(const void* address, unsigned bytes, observer::access kind,
                          const memory_semantics& how);
// Stores `desired` if memory holds `expected`, in one step.
bool replace_memory(void* address, unsigned bytes, std::uint64_t expected, std::uint64_t desired);

// Before an operation. A sequentially consistent one begins with a fence. `frame` is that of the
// function that the kernel calls, and has all registers.
void begin_atomic(const memory_semantics& how, const place& at, const void* frame);

// The functions that call it are never inlined: what they leave in registers and on the stack would
// make the first round of a loop that waits look as if it had changed something. Values they get by
// reference, so that these are part of what the kernel holds.

template <class T>
[[gnu::noinline]] T atomic_load(const T* address, const memory_semantics& how, const place& at) {
  __builtin_unwind_init();
  require_alignment(address, at);
  begin_atomic(how, at, __builtin_frame_address(0));
  const auto bits =
      static_cast<word<T>>(read_memory(address, sizeof(T), observer::access::load, how));
  observe_atomic(address, sizeof(T), observer::access::load, how, false, at);
  return from_word<T>(bits);
}

template <class T, class Next>
[[gnu::noinline]] T replace_atomically(T* address, observer::access kind,
                                       const memory_semantics& how, const place& at,
                                       const Next& next) {
  __builtin_unwind_init();
  require_alignment(address, at);
  begin_atomic(how, at, __builtin_frame_address(0));
  for (;;) {
    const auto old = static_cast<word<T>>(read_memory(address, sizeof(T), kind, how));
    const word<T> desired = to_word<T>(next(from_word<T>(old)));
    if (!replace_memory(address, sizeof(T), old, desired)) continue;
    const bool changed = kind == observer::access::store || old != desired;
    observe_atomic(address, sizeof(T), kind, how, changed, at);
    return from_word<T>(old);
  }
}

template <class T>
void atomic_store(T* address, T value, const memory_semantics& how, const place& at) {
  replace_atomically(address, observer::access::store, how, at, [&](T) { return value; });
}

template <class T>
T atomic_exchange(T* address, T value, const memory_semantics& how, const place& at) {
  return replace_atomically(address, observer::access::update, how, at, [&](T) { return value; });
}

// `expected` gets what was read. True if it was equal, and then `desired` was stored.
template <class T>
[[gnu::noinline]] bool atomic_compare_exchange(T* address, T& expected, const T& desired,
                                               const memory_semantics& how,
                                               std::memory_order failure, const place& at) {
  __builtin_unwind_init();
  require_alignment(address, at);
  begin_atomic(how, at, __builtin_frame_address(0));
  const word<T> wanted = to_word(expected);
  for (;;) {
    const auto old =
        static_cast<word<T>>(read_memory(address, sizeof(T), observer::access::update, how));
    if (old != wanted) {
      observe_atomic(address, sizeof(T), observer::access::load, {failure, how.scope}, false, at);
      expected = from_word<T>(old);
      return false;
    }
    if (!replace_memory(address, sizeof(T), old, to_word(desired))) continue;
    observe_atomic(address, sizeof(T), observer::access::update, how, old != to_word(desired), at);
    return true;
  }
}

// Replaces the old value by next(old) and returns the old one.
template <class T, class Next>
T atomic_update(T* address, const memory_semantics& how, const place& at, Next next) {
  return replace_atomically(address, observer::access::update, how, at, next);
}

template <class T>
T atomic_add(T* address, T value, const memory_semantics& how, const place& at) {
  return atomic_update(address, how, at, [=](T old) { return atomic_sum(old, value); });
}

}  // namespace cpu_backend
