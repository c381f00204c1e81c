// SPDX-License-Identifier: MIT
// Every atomic operation of a kernel passes through here, and every fence: atomicAdd() and its kin,
// cuda::atomic and cuda::atomic_ref. On the host they work as well, as those of libcu++ do.
#pragma once

#include <atomic>
#include <type_traits>

#include "cpu_backend/device_functions/atomic_word.hpp"
#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

// A fence may stand in the loop of a thread that waits.
inline void fence(std::memory_order order, memory_scope, const place& at) {
  std::atomic_thread_fence(order);
  if (multiprocessor* on = this_multiprocessor) on->fruitless(at);
}

// A thread that waits reads the same value again and again, or writes what is there already. Others
// get their turn then; a thread whose atomics change memory is left alone.
inline void after_atomic(bool changed_memory, const place& at) {
  multiprocessor* on = this_multiprocessor;
  if (!on) return;
  if (changed_memory) {
    on->progressed();
  } else {
    on->fruitless(at);
  }
}

// What translate.py puts into a loop that waits by reading volatile memory, which nothing else
// sees.
inline void polled(place at = CPU_BACKEND_HERE) { after_atomic(false, at); }

template <class T>
T atomic_load(const T* address, const memory_semantics& how, const place& at) {
  require_alignment(address, at);
  const word<T> bits = __atomic_load_n(as_word(address), compiler_order(how));
  after_atomic(false, at);
  return from_word<T>(bits);
}

template <class T>
void atomic_store(T* address, T value, const memory_semantics& how, const place& at) {
  require_alignment(address, at);
  __atomic_store_n(as_word(address), to_word(value), compiler_order(how));
  after_atomic(true, at);
}

template <class T>
T atomic_exchange(T* address, T value, const memory_semantics& how, const place& at) {
  require_alignment(address, at);
  const word<T> desired = to_word(value);
  const word<T> old = __atomic_exchange_n(as_word(address), desired, compiler_order(how));
  after_atomic(old != desired, at);
  return from_word<T>(old);
}

// `expected` gets what was read. True if it was equal, and then `desired` was stored.
template <class T>
bool atomic_compare_exchange(T* address, T& expected, T desired, const memory_semantics& how,
                             std::memory_order failure, const place& at) {
  require_alignment(address, at);
  word<T> seen = to_word(expected);
  const bool stored = __atomic_compare_exchange_n(as_word(address), &seen, to_word(desired), false,
                                                  compiler_order(how), compiler_order(failure));
  if (!stored) expected = from_word<T>(seen);
  after_atomic(stored && seen != to_word(desired), at);
  return stored;
}

// Replaces the old value by next(old) and returns the old one.
template <class T, class Next>
T atomic_update(T* address, const memory_semantics& how, const place& at, Next next) {
  require_alignment(address, at);
  word<T> old = __atomic_load_n(as_word(address), __ATOMIC_RELAXED);
  for (;;) {
    const word<T> desired = to_word<T>(next(from_word<T>(old)));
    if (__atomic_compare_exchange_n(as_word(address), &old, desired, true, compiler_order(how),
                                    __ATOMIC_RELAXED)) {
      after_atomic(old != desired, at);
      return from_word<T>(old);
    }
  }
}

// The processor has an instruction for this one, and the courses' counters live on it.
template <class T>
T atomic_add(T* address, T value, const memory_semantics& how, const place& at) {
  require_alignment(address, at);
  if constexpr (std::is_integral_v<T>) {
    const T old = __atomic_fetch_add(address, value, compiler_order(how));
    after_atomic(value != 0, at);
    return old;
  } else {
    return atomic_update(address, how, at, [=](T old) { return old + value; });
  }
}

}  // namespace cpu_backend
