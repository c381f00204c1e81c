// SPDX-License-Identifier: MIT
// Loads and stores with a cache hint. The hint does not change what is read or written, and a CPU
// has no use for it, so these are plain accesses; only __ldcv and __stwt, which ask for memory and
// not for a cached copy, are volatile.
#pragma once

#include <concepts>
#include <type_traits>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/observer.hpp"
#include "vector_types.h"

namespace cpu_backend {

template <class T, class... Types>
concept one_of = (std::same_as<T, Types> || ...);

template <class T>
concept hinted_scalar =
    one_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned int, long,
           unsigned long, long long, unsigned long long, float, double>;

template <class T>
concept hinted_pair =
    one_of<T, char2, uchar2, short2, ushort2, int2, uint2, longlong2, ulonglong2, float2, double2>;

template <class T>
concept hinted_quadruple = one_of<T, char4, uchar4, short4, ushort4, int4, uint4, float4>;

// The types that CUDA has these functions for.
template <class T>
concept hinted = hinted_scalar<T> || hinted_pair<T> || hinted_quadruple<T>;

// A class cannot be copied from a volatile object as a whole.
template <hinted T>
T volatile_load(const volatile T* pointer) {
  if constexpr (hinted_scalar<T>) {
    return *pointer;
  } else if constexpr (hinted_pair<T>) {
    return {pointer->x, pointer->y};
  } else {
    return {pointer->x, pointer->y, pointer->z, pointer->w};
  }
}

template <hinted T>
void volatile_store(volatile T* pointer, const T& value) {
  if constexpr (hinted_scalar<T>) {
    *pointer = value;
  } else {
    pointer->x = value.x;
    pointer->y = value.y;
    if constexpr (hinted_quadruple<T>) {
      pointer->z = value.z;
      pointer->w = value.w;
    }
  }
}

}  // namespace cpu_backend

// By it a program promises that nothing is written there while the kernel runs.
template <cpu_backend::hinted T>
T __ldg(const T* pointer, cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::form::used("device", "__ldg()", &at);
  cpu_backend::observer::read_only_load(pointer, sizeof(T), at);
  return *pointer;
}
template <cpu_backend::hinted T>
T __ldca(const T* pointer) {
  return *pointer;
}
template <cpu_backend::hinted T>
T __ldcg(const T* pointer) {
  return *pointer;
}
template <cpu_backend::hinted T>
T __ldcs(const T* pointer) {
  return *pointer;
}
template <cpu_backend::hinted T>
T __ldlu(const T* pointer) {
  return *pointer;
}
template <cpu_backend::hinted T>
T __ldcv(const T* pointer) {
  return cpu_backend::volatile_load(pointer);
}

// The value's type does not take part in the deduction: __stcs(&float, 1) converts, as in CUDA.
template <cpu_backend::hinted T>
void __stwb(T* pointer, std::type_identity_t<T> value) {
  *pointer = value;
}
template <cpu_backend::hinted T>
void __stcg(T* pointer, std::type_identity_t<T> value) {
  *pointer = value;
}
template <cpu_backend::hinted T>
void __stcs(T* pointer, std::type_identity_t<T> value) {
  *pointer = value;
}
template <cpu_backend::hinted T>
void __stwt(T* pointer, std::type_identity_t<T> value) {
  cpu_backend::volatile_store(pointer, value);
}
