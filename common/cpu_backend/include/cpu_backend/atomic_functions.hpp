// SPDX-License-Identifier: MIT
// atomicAdd() and its kin for exactly the types for which CUDA has them, so that what does not
// compile there does not compile here. All are relaxed. `_block` and `_system` differ from the
// plain form in scope only, which the race checker looks at and a CPU can't tell apart.
#pragma once

#include <type_traits>

#include "cpu_backend/atomic_operation.hpp"

namespace cpu_backend {

constexpr memory_semantics relaxed(memory_scope scope) {
  return {std::memory_order_relaxed, scope};
}

}  // namespace cpu_backend

// clang-format off
#define CPU_BACKEND_ATOMIC(name, type, expression)                                                  \
  inline type name(type* address, type value, cpu_backend::place at = CPU_BACKEND_HERE) {           \
    return expression;                                                                              \
  }
#define CPU_BACKEND_UPDATE(scope, next)                                                                  \
  cpu_backend::atomic_update(address, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at, [=](auto old) -> decltype(old) { return next; })

#define CPU_BACKEND_ATOMICS(suffix, scope)                                                               \
  CPU_BACKEND_ATOMIC(atomicAdd##suffix, int, cpu_backend::atomic_add(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicAdd##suffix, unsigned, cpu_backend::atomic_add(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicAdd##suffix, unsigned long long, cpu_backend::atomic_add(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicAdd##suffix, float, cpu_backend::atomic_add(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicAdd##suffix, double, cpu_backend::atomic_add(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicSub##suffix, int, CPU_BACKEND_UPDATE(scope, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))) \
  CPU_BACKEND_ATOMIC(atomicSub##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old - value))                  \
  CPU_BACKEND_ATOMIC(atomicExch##suffix, int, cpu_backend::atomic_exchange(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicExch##suffix, unsigned, cpu_backend::atomic_exchange(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicExch##suffix, unsigned long long, cpu_backend::atomic_exchange(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicExch##suffix, float, cpu_backend::atomic_exchange(address, value, cpu_backend::relaxed(cpu_backend::memory_scope::scope), at)) \
  CPU_BACKEND_ATOMIC(atomicMin##suffix, int, CPU_BACKEND_UPDATE(scope, value < old ? value : old))         \
  CPU_BACKEND_ATOMIC(atomicMin##suffix, unsigned, CPU_BACKEND_UPDATE(scope, value < old ? value : old))    \
  CPU_BACKEND_ATOMIC(atomicMin##suffix, long long, CPU_BACKEND_UPDATE(scope, value < old ? value : old))   \
  CPU_BACKEND_ATOMIC(atomicMin##suffix, unsigned long long, CPU_BACKEND_UPDATE(scope, value < old ? value : old)) \
  CPU_BACKEND_ATOMIC(atomicMax##suffix, int, CPU_BACKEND_UPDATE(scope, old < value ? value : old))         \
  CPU_BACKEND_ATOMIC(atomicMax##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old < value ? value : old))    \
  CPU_BACKEND_ATOMIC(atomicMax##suffix, long long, CPU_BACKEND_UPDATE(scope, old < value ? value : old))   \
  CPU_BACKEND_ATOMIC(atomicMax##suffix, unsigned long long, CPU_BACKEND_UPDATE(scope, old < value ? value : old)) \
  CPU_BACKEND_ATOMIC(atomicInc##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old >= value ? 0 : old + 1))   \
  CPU_BACKEND_ATOMIC(atomicDec##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old == 0 || old > value ? value : old - 1)) \
  CPU_BACKEND_ATOMIC(atomicAnd##suffix, int, CPU_BACKEND_UPDATE(scope, old & value))                       \
  CPU_BACKEND_ATOMIC(atomicAnd##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old & value))                  \
  CPU_BACKEND_ATOMIC(atomicAnd##suffix, long long, CPU_BACKEND_UPDATE(scope, old & value))                 \
  CPU_BACKEND_ATOMIC(atomicAnd##suffix, unsigned long long, CPU_BACKEND_UPDATE(scope, old & value))        \
  CPU_BACKEND_ATOMIC(atomicOr##suffix, int, CPU_BACKEND_UPDATE(scope, old | value))                        \
  CPU_BACKEND_ATOMIC(atomicOr##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old | value))                   \
  CPU_BACKEND_ATOMIC(atomicOr##suffix, long long, CPU_BACKEND_UPDATE(scope, old | value))                  \
  CPU_BACKEND_ATOMIC(atomicOr##suffix, unsigned long long, CPU_BACKEND_UPDATE(scope, old | value))         \
  CPU_BACKEND_ATOMIC(atomicXor##suffix, int, CPU_BACKEND_UPDATE(scope, old ^ value))                       \
  CPU_BACKEND_ATOMIC(atomicXor##suffix, unsigned, CPU_BACKEND_UPDATE(scope, old ^ value))                  \
  CPU_BACKEND_ATOMIC(atomicXor##suffix, long long, CPU_BACKEND_UPDATE(scope, old ^ value))                 \
  CPU_BACKEND_ATOMIC(atomicXor##suffix, unsigned long long, CPU_BACKEND_UPDATE(scope, old ^ value))        \
  CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS##suffix, scope, int)                                              \
  CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS##suffix, scope, unsigned)                                         \
  CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS##suffix, scope, unsigned long long)
// clang-format on

// Returns the old value, which equals `expected` exactly if `desired` was stored.
#define CPU_BACKEND_COMPARE_AND_SWAP(name, scope, type)                                          \
  inline type name(type* address, type expected, type desired,                                   \
                   cpu_backend::place at = CPU_BACKEND_HERE) {                                   \
    cpu_backend::atomic_compare_exchange(address, expected, desired,                             \
                                         cpu_backend::relaxed(cpu_backend::memory_scope::scope), \
                                         std::memory_order_relaxed, at);                         \
    return expected;                                                                             \
  }

CPU_BACKEND_ATOMICS(, device)
CPU_BACKEND_ATOMICS(_block, block)
CPU_BACKEND_ATOMICS(_system, system)
// CUDA has this one for the whole device only.
CPU_BACKEND_COMPARE_AND_SWAP(atomicCAS, device, unsigned short)

#undef CPU_BACKEND_ATOMICS
#undef CPU_BACKEND_ATOMIC
#undef CPU_BACKEND_UPDATE
#undef CPU_BACKEND_COMPARE_AND_SWAP
