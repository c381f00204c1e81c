// SPDX-License-Identifier: MIT
// Every atomic operation of a kernel passes through here: atomicAdd() and its kin, cuda::atomic and
// cuda::atomic_ref. On the host they work as well, as those of libcu++ do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_backend/memory_semantics.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

// A failed compare-and-swap stores nothing, so it can't release.
constexpr std::memory_order failure_order(std::memory_order order) {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order;
}

// An integer as large as T, through which T is read and written. A structure of two ints is aligned
// to 4 bytes only, as a type; its object is aligned to 8, which is the caller's duty, and the
// compiler must believe it: else it calls a library that takes a lock.
template <std::size_t Bytes>
struct word_of;
template <>
struct word_of<1> {
  typedef std::uint8_t type __attribute__((may_alias));
};
template <>
struct word_of<2> {
  typedef std::uint16_t type __attribute__((may_alias));
};
template <>
struct word_of<4> {
  typedef std::uint32_t type __attribute__((may_alias));
};
template <>
struct word_of<8> {
  typedef std::uint64_t type __attribute__((may_alias));
};
template <class T>
using word = typename word_of<sizeof(T)>::type;

template <class T>
word<T>* as_word(T* address) {
  return reinterpret_cast<word<T>*>(address);
}
template <class T>
const word<T>* as_word(const T* address) {
  return reinterpret_cast<const word<T>*>(address);
}
template <class T>
word<T> to_word(T value) {
  word<T> bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
template <class T>
T from_word(word<T> bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
bool same_bits(const T& left, const T& right) {
  return std::memcmp(&left, &right, sizeof(T)) == 0;
}

// Integers wrap around, as the standard asks of atomics.
template <class T>
T atomic_sum(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(left) + static_cast<bits>(right));
  } else {
    return left + right;
  }
}
template <class T>
T atomic_difference(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(left) - static_cast<bits>(right));
  } else {
    return left - right;
  }
}

#ifndef CPU_BACKEND_OBSERVED

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

template <class T>
T atomic_load(const T* address, const memory_semantics& how, const place& at) {
  const word<T> bits = __atomic_load_n(as_word(address), compiler_order(how));
  after_atomic(false, at);
  return from_word<T>(bits);
}

template <class T>
void atomic_store(T* address, T value, const memory_semantics& how, const place& at) {
  __atomic_store_n(as_word(address), to_word(value), compiler_order(how));
  after_atomic(true, at);
}

template <class T>
T atomic_exchange(T* address, T value, const memory_semantics& how, const place& at) {
  const word<T> desired = to_word(value);
  const word<T> old = __atomic_exchange_n(as_word(address), desired, compiler_order(how));
  after_atomic(old != desired, at);
  return from_word<T>(old);
}

// `expected` gets what was read. True if it was equal, and then `desired` was stored.
template <class T>
bool atomic_compare_exchange(T* address, T& expected, T desired, const memory_semantics& how,
                             std::memory_order failure, const place& at) {
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
  if constexpr (std::is_integral_v<T>) {
    const T old = __atomic_fetch_add(address, value, compiler_order(how));
    after_atomic(value != 0, at);
    return old;
  } else {
    return atomic_update(address, how, at, [=](T old) { return old + value; });
  }
}

#else

// The observed form: memory is read and written by the backend's library, which is not
// instrumented, and the observer is told what kind of operation it was. A failed comparison loads.
void observe_atomic(const void* address, unsigned bytes, observer::access kind,
                    const memory_semantics& how, bool changed_memory, const place& at);
std::uint64_t read_memory(const void* address, unsigned bytes);
// Stores `desired` if memory holds `expected`, in one step.
bool replace_memory(void* address, unsigned bytes, std::uint64_t expected, std::uint64_t desired);

// What a sequentially consistent operation does before it; nothing for any other.
void begin_atomic(const memory_semantics& how, const place& at);

template <class T>
T atomic_load(const T* address, const memory_semantics& how, const place& at) {
  begin_atomic(how, at);
  const auto bits = static_cast<word<T>>(read_memory(address, sizeof(T)));
  observe_atomic(address, sizeof(T), observer::access::load, how, false, at);
  return from_word<T>(bits);
}

template <class T, class Next>
T replace_atomically(T* address, observer::access kind, const memory_semantics& how,
                     const place& at, Next next) {
  begin_atomic(how, at);
  for (;;) {
    const auto old = static_cast<word<T>>(read_memory(address, sizeof(T)));
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
bool atomic_compare_exchange(T* address, T& expected, T desired, const memory_semantics& how,
                             std::memory_order failure, const place& at) {
  begin_atomic(how, at);
  const word<T> wanted = to_word(expected);
  for (;;) {
    const auto old = static_cast<word<T>>(read_memory(address, sizeof(T)));
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

#endif

}  // namespace cpu_backend
