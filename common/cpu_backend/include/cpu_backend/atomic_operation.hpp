// SPDX-License-Identifier: MIT
// Every atomic operation of a kernel passes through here: atomicAdd() and its kin, cuda::atomic and
// cuda::atomic_ref. On the host they work as well, as those of libcu++ do.
#pragma once

#include <atomic>
#include <cstring>
#include <type_traits>

#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

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

// memory_order has the values of the compiler's own constants, in both standard libraries.
constexpr int compiler_order(std::memory_order order) { return static_cast<int>(order); }

// A failed compare-and-swap stores nothing, so it can't release.
constexpr std::memory_order failure_order(std::memory_order order) {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order;
}

template <class T>
T atomic_load(const T* address, std::memory_order order, const place& at) {
  T value;
  __atomic_load(address, &value, compiler_order(order));
  after_atomic(false, at);
  return value;
}

template <class T>
void atomic_store(T* address, T value, std::memory_order order, const place& at) {
  __atomic_store(address, &value, compiler_order(order));
  after_atomic(true, at);
}

template <class T>
bool same_bits(const T& left, const T& right) {
  return std::memcmp(&left, &right, sizeof(T)) == 0;
}

template <class T>
T atomic_exchange(T* address, T value, std::memory_order order, const place& at) {
  T old;
  __atomic_exchange(address, &value, &old, compiler_order(order));
  after_atomic(!same_bits(old, value), at);
  return old;
}

// `expected` gets what was read. True if it was equal, and then `desired` was stored.
template <class T>
bool atomic_compare_exchange(T* address, T& expected, T desired, std::memory_order success,
                             std::memory_order failure, const place& at) {
  const bool stored = __atomic_compare_exchange(address, &expected, &desired, false,
                                                compiler_order(success), compiler_order(failure));
  after_atomic(stored && !same_bits(expected, desired), at);
  return stored;
}

// Replaces the old value by next(old) and returns the old one.
template <class T, class Next>
T atomic_update(T* address, std::memory_order order, const place& at, Next next) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (;;) {
    T desired = next(old);
    if (__atomic_compare_exchange(address, &old, &desired, true, compiler_order(order),
                                  __ATOMIC_RELAXED)) {
      after_atomic(!same_bits(old, desired), at);
      return old;
    }
  }
}

// The processor has an instruction for this one, and the courses' counters live on it.
template <class T>
T atomic_add(T* address, T value, std::memory_order order, const place& at) {
  if constexpr (std::is_integral_v<T>) {
    const T old = __atomic_fetch_add(address, value, compiler_order(order));
    after_atomic(value != 0, at);
    return old;
  } else {
    return atomic_update(address, order, at, [=](T old) { return old + value; });
  }
}

}  // namespace cpu_backend
