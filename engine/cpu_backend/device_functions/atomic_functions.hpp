// SPDX-License-Identifier: MIT
// atomicAdd() and its kin for exactly the types for which CUDA has them, as functions and not as
// templates: so a call's arguments are converted, and a call is rejected, as nvcc does it. All are
// relaxed. `_block` and `_system` differ from the plain form in scope only, which the race checker
// looks at and a CPU can't tell apart.
#pragma once

#include "cpu_backend/atomic_access.hpp"
#include "cpu_backend/execution/place.hpp"

// What each function does, for any type. All return the old value. Inlined even where racecheck
// compiles with few optimisations: each is part of the one function that stands in the kernel.
namespace cpu_backend::atomics {

constexpr memory_semantics relaxed(memory_scope scope) {
  return {std::memory_order_relaxed, scope};
}

// next(old, value) replaces the old value.
template <class T, class Next>
[[gnu::always_inline]] inline T update(T* address, T value, memory_scope scope, const place& at,
                                       Next next) {
  return atomic_update(address, relaxed(scope), at, [=](T old) -> T { return next(old, value); });
}

template <class T>
[[gnu::always_inline]] inline T add(T* address, T value, memory_scope scope, const place& at) {
  return atomic_add(address, value, relaxed(scope), at);
}
template <class T>
[[gnu::always_inline]] inline T subtract(T* address, T value, memory_scope scope, const place& at) {
  return update(address, value, scope, at, atomic_difference<T>);
}
template <class T>
[[gnu::always_inline]] inline T exchange(T* address, T value, memory_scope scope, const place& at) {
  return atomic_exchange(address, value, relaxed(scope), at);
}
template <class T>
[[gnu::always_inline]] inline T minimum(T* address, T value, memory_scope scope, const place& at) {
  return update(address, value, scope, at,
                [](T old, T other) { return other < old ? other : old; });
}
template <class T>
[[gnu::always_inline]] inline T maximum(T* address, T value, memory_scope scope, const place& at) {
  return update(address, value, scope, at,
                [](T old, T other) { return old < other ? other : old; });
}
template <class T>
[[gnu::always_inline]] inline T increment(T* address, T last, memory_scope scope, const place& at) {
  return update(address, last, scope, at, [](T old, T end) { return old >= end ? 0 : old + 1; });
}
template <class T>
[[gnu::always_inline]] inline T decrement(T* address, T first, memory_scope scope,
                                          const place& at) {
  return update(address, first, scope, at,
                [](T old, T end) { return old == 0 || old > end ? end : old - 1; });
}
template <class T>
[[gnu::always_inline]] inline T bit_and(T* address, T value, memory_scope scope, const place& at) {
  return update(address, value, scope, at, [](T old, T other) { return old & other; });
}
template <class T>
[[gnu::always_inline]] inline T bit_or(T* address, T value, memory_scope scope, const place& at) {
  return update(address, value, scope, at, [](T old, T other) { return old | other; });
}
template <class T>
[[gnu::always_inline]] inline T bit_xor(T* address, T value, memory_scope scope, const place& at) {
  return update(address, value, scope, at, [](T old, T other) { return old ^ other; });
}
// Stores `desired` exactly if the old value equals `expected`.
template <class T>
[[gnu::always_inline]] inline T compare_and_swap(T* address, T expected, T desired,
                                                 memory_scope scope, const place& at) {
  atomic_compare_exchange(address, expected, desired, relaxed(scope), std::memory_order_relaxed,
                          at);
  return expected;
}

}  // namespace cpu_backend::atomics

// One function in one scope, and in all three.
#define CPU_BACKEND_ATOMIC_IN_SCOPE(name, scope, type, operation)                                 \
  inline type name(type* address, type value, cpu_backend::place at = CPU_BACKEND_HERE) {         \
    return cpu_backend::atomics::operation(address, value, cpu_backend::memory_scope::scope, at); \
  }
#define CPU_BACKEND_ATOMIC(name, type, operation)                   \
  CPU_BACKEND_ATOMIC_IN_SCOPE(name, device, type, operation)        \
  CPU_BACKEND_ATOMIC_IN_SCOPE(name##_block, block, type, operation) \
  CPU_BACKEND_ATOMIC_IN_SCOPE(name##_system, system, type, operation)

#define CPU_BACKEND_ATOMIC_OF_INTEGERS(name, operation) \
  CPU_BACKEND_ATOMIC(name, int, operation)              \
  CPU_BACKEND_ATOMIC(name, unsigned, operation)         \
  CPU_BACKEND_ATOMIC(name, long long, operation)        \
  CPU_BACKEND_ATOMIC(name, unsigned long long, operation)

CPU_BACKEND_ATOMIC(atomicAdd, int, add)
CPU_BACKEND_ATOMIC(atomicAdd, unsigned, add)
CPU_BACKEND_ATOMIC(atomicAdd, unsigned long long, add)
CPU_BACKEND_ATOMIC(atomicAdd, float, add)
CPU_BACKEND_ATOMIC(atomicAdd, double, add)

CPU_BACKEND_ATOMIC(atomicSub, int, subtract)
CPU_BACKEND_ATOMIC(atomicSub, unsigned, subtract)

CPU_BACKEND_ATOMIC(atomicExch, int, exchange)
CPU_BACKEND_ATOMIC(atomicExch, unsigned, exchange)
CPU_BACKEND_ATOMIC(atomicExch, unsigned long long, exchange)
CPU_BACKEND_ATOMIC(atomicExch, float, exchange)

CPU_BACKEND_ATOMIC_OF_INTEGERS(atomicMin, minimum)
CPU_BACKEND_ATOMIC_OF_INTEGERS(atomicMax, maximum)
CPU_BACKEND_ATOMIC(atomicInc, unsigned, increment)
CPU_BACKEND_ATOMIC(atomicDec, unsigned, decrement)

CPU_BACKEND_ATOMIC_OF_INTEGERS(atomicAnd, bit_and)
CPU_BACKEND_ATOMIC_OF_INTEGERS(atomicOr, bit_or)
CPU_BACKEND_ATOMIC_OF_INTEGERS(atomicXor, bit_xor)

#define CPU_BACKEND_COMPARE_AND_SWAP(name, scope, type)                                  \
  inline type name(type* address, type expected, type desired,                           \
                   cpu_backend::place at = CPU_BACKEND_HERE) {                           \
    return cpu_backend::atomics::compare_and_swap(address, expected, desired,            \
                                                  cpu_backend::memory_scope::scope, at); \
  }
#define CPU_BACKEND_COMPARE_AND_SWAPS(type)                  \
  CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS, device, type)      \
  CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS_block, block, type) \
  CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS_system, system, type)

CPU_BACKEND_COMPARE_AND_SWAPS(int)
CPU_BACKEND_COMPARE_AND_SWAPS(unsigned)
CPU_BACKEND_COMPARE_AND_SWAPS(unsigned long long)
// CUDA has this one for the whole device only.
CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS, device, unsigned short)

#undef CPU_BACKEND_ATOMIC_IN_SCOPE
#undef CPU_BACKEND_ATOMIC
#undef CPU_BACKEND_ATOMIC_OF_INTEGERS
#undef CPU_BACKEND_COMPARE_AND_SWAP
#undef CPU_BACKEND_COMPARE_AND_SWAPS
