// SPDX-License-Identifier: MIT
// What an atomic operation is given: its order and its scope, the value as an unsigned integer of
// the same size, and an address that must be aligned.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu_backend/execution/place.hpp"

namespace cpu_backend {

// In the order of cuda::thread_scope.
enum class memory_scope { system, device, block, thread };

struct memory_semantics {
  std::memory_order order = std::memory_order_relaxed;
  memory_scope scope = memory_scope::device;
};

// memory_order has the values of the compiler's own constants, in both standard libraries.
constexpr int compiler_order(std::memory_order order) { return static_cast<int>(order); }
constexpr int compiler_order(const memory_semantics& how) { return compiler_order(how.order); }

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

// In a kernel, ends it; on the host, returns.
[[gnu::cold]] void misaligned_atomic(const volatile void* address, unsigned bytes, const place& at);

// First thing in every atomic operation.
template <class T>
inline void require_alignment(const volatile T* address, const place& at) {
  static_assert((sizeof(T) & (sizeof(T) - 1)) == 0);
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(T) != 0) [[unlikely]]
    misaligned_atomic(address, sizeof(T), at);
}

}  // namespace cpu_backend
