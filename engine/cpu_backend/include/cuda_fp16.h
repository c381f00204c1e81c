// SPDX-License-Identifier: MIT
// Numbers of 16 bits, as CUDA has them: an operation is done in float and rounded once, which for
// one addition, multiplication, division or square root gives the nearest half. (A fused
// multiplication and addition is done in double.) NVIDIA's "CUDA Math API", "Half Precision
// Intrinsics", defines them.
#pragma once

#include <math.h>

#include <bit>
#include <cstdint>

#include "cpu_backend/device_functions/synchronization.hpp"
#include "vector_types.h"

#define __CUDA_FP16_TYPES_EXIST__

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

namespace cpu_backend {

// The nearest half, of two equally near ones the even one.
inline std::uint16_t half_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;          // NaN, which CUDA makes this one
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds beyond 65504
  if (magnitude < 0x33000001) return sign;            // at most half of the smallest
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t kept, dropped, unit;
  if (exponent >= 113) {
    unit = 1u << 13;
    kept = (magnitude - (112u << 23)) >> 13;
    dropped = magnitude & (unit - 1);
  } else {  // subnormal: the significand with its leading one, moved to the right
    const std::uint32_t shift = 126 - exponent;
    const std::uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    unit = 1u << shift;
    kept = significand >> shift;
    dropped = significand & (unit - 1);
  }
  if (dropped > unit / 2 || (dropped == unit / 2 && (kept & 1))) ++kept;
  return static_cast<std::uint16_t>(sign | kept);
}

inline float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wider = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wider << 23 | fraction << 13);
}

// Twice rounded would be wrong here: a double first becomes the float that shows by its last bit
// that it is not exact.
inline float to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !::isfinite(nearest)) return nearest;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (bits & 1) return nearest;
  const bool is_larger = ::fabs(static_cast<double>(nearest)) > ::fabs(value);
  return std::bit_cast<float>(is_larger ? bits - 1 : bits + 1);
}

}  // namespace cpu_backend

struct alignas(2) __half {
  unsigned short __x;

  __half() = default;
  __half(const __half_raw& raw) : __x(raw.x) {}
  __half(float value) : __x(cpu_backend::half_bits(value)) {}
  __half(double value) : __x(cpu_backend::half_bits(cpu_backend::to_odd(value))) {}
  __half(int value) : __half(static_cast<double>(value)) {}
  __half(unsigned int value) : __half(static_cast<double>(value)) {}
  __half(short value) : __half(static_cast<double>(value)) {}
  __half(unsigned short value) : __half(static_cast<double>(value)) {}
  __half(long value) : __half(static_cast<double>(value)) {}
  __half(unsigned long value) : __half(static_cast<double>(value)) {}
  __half(long long value) : __half(static_cast<double>(value)) {}
  __half(unsigned long long value) : __half(static_cast<double>(value)) {}

  operator float() const { return cpu_backend::float_of_half(__x); }
  operator __half_raw() const { return {__x}; }
};
using half = __half;

struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  __half2(const __half& low, const __half& high) : x(low), y(high) {}
};
using half2 = __half2;

inline float __half2float(__half h) { return h; }
inline __half __float2half(float f) { return f; }
inline __half __float2half_rn(float f) { return f; }
inline __half __double2half(double d) { return d; }
inline __half __int2half_rn(int i) { return i; }
inline __half __uint2half_rn(unsigned int i) { return i; }
inline __half __short2half_rn(short i) { return i; }
inline __half __ushort2half_rn(unsigned short i) { return i; }
inline int __half2int_rn(__half h) { return static_cast<int>(::nearbyintf(h)); }
inline int __half2int_rz(__half h) { return static_cast<int>(static_cast<float>(h)); }
inline int __half2int_rd(__half h) { return static_cast<int>(::floorf(h)); }
inline int __half2int_ru(__half h) { return static_cast<int>(::ceilf(h)); }
inline unsigned short __half_as_ushort(__half h) { return h.__x; }
inline short __half_as_short(__half h) { return static_cast<short>(h.__x); }
inline __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
inline __half __short_as_half(short bits) { return __half_raw{static_cast<unsigned short>(bits)}; }

inline __half2 __floats2half2_rn(float low, float high) { return {low, high}; }
inline __half2 __float2half2_rn(float f) { return {f, f}; }
inline __half2 __float22half2_rn(float2 f) { return {f.x, f.y}; }
inline float2 __half22float2(__half2 h) { return {h.x, h.y}; }
inline __half2 __half2half2(__half h) { return {h, h}; }
inline __half2 __halves2half2(__half low, __half high) { return {low, high}; }
inline __half2 make_half2(__half low, __half high) { return {low, high}; }
inline __half __low2half(__half2 h) { return h.x; }
inline __half __high2half(__half2 h) { return h.y; }
inline float __low2float(__half2 h) { return h.x; }
inline float __high2float(__half2 h) { return h.y; }
inline __half2 __low2half2(__half2 h) { return {h.x, h.x}; }
inline __half2 __high2half2(__half2 h) { return {h.y, h.y}; }
inline __half2 __lowhigh2highlow(__half2 h) { return {h.y, h.x}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

namespace cpu_backend {
inline float as_float(__half h) { return h; }
inline __half fused(__half a, __half b, __half c) {
  return static_cast<double>(as_float(a)) * static_cast<double>(as_float(b)) +
         static_cast<double>(as_float(c));
}
}  // namespace cpu_backend

// A function of one half and the same of two at once.
#define CPU_BACKEND_HALF(name, name2, expression) \
  inline __half name(__half left, __half right) { \
    const float a = left, b = right;              \
    return expression;                            \
  }                                               \
  inline __half2 name2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
CPU_BACKEND_HALF(__hadd, __hadd2, a + b)
CPU_BACKEND_HALF(__hsub, __hsub2, a - b)
CPU_BACKEND_HALF(__hmul, __hmul2, a* b)
CPU_BACKEND_HALF(__hdiv, __h2div, a / b)
CPU_BACKEND_HALF(__hmin, __hmin2, ::fminf(a, b))
CPU_BACKEND_HALF(__hmax, __hmax2, ::fmaxf(a, b))
CPU_BACKEND_HALF(__hadd_rn, __hadd2_rn, a + b)
CPU_BACKEND_HALF(__hsub_rn, __hsub2_rn, a - b)
CPU_BACKEND_HALF(__hmul_rn, __hmul2_rn, a* b)
CPU_BACKEND_HALF(__hadd_sat, __hadd2_sat, ::fminf(::fmaxf(a + b, 0.0f), 1.0f))
CPU_BACKEND_HALF(__hsub_sat, __hsub2_sat, ::fminf(::fmaxf(a - b, 0.0f), 1.0f))
CPU_BACKEND_HALF(__hmul_sat, __hmul2_sat, ::fminf(::fmaxf(a* b, 0.0f), 1.0f))
#undef CPU_BACKEND_HALF
inline __half __hfma(__half a, __half b, __half c) { return cpu_backend::fused(a, b, c); }
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {cpu_backend::fused(a.x, b.x, c.x), cpu_backend::fused(a.y, b.y, c.y)};
}

#define CPU_BACKEND_HALF(name, name2, expression) \
  inline __half name(__half value) {              \
    const float a = value;                        \
    return expression;                            \
  }                                               \
  inline __half2 name2(__half2 a) { return {name(a.x), name(a.y)}; }
CPU_BACKEND_HALF(__hneg, __hneg2, -a)
CPU_BACKEND_HALF(__habs, __habs2, ::fabsf(a))
CPU_BACKEND_HALF(hsqrt, h2sqrt, ::sqrtf(a))
CPU_BACKEND_HALF(hrsqrt, h2rsqrt, 1.0f / ::sqrtf(a))
CPU_BACKEND_HALF(hrcp, h2rcp, 1.0f / a)
CPU_BACKEND_HALF(hexp, h2exp, ::expf(a))
CPU_BACKEND_HALF(hexp2, h2exp2, ::exp2f(a))
CPU_BACKEND_HALF(hexp10, h2exp10, ::exp10f(a))
CPU_BACKEND_HALF(hlog, h2log, ::logf(a))
CPU_BACKEND_HALF(hlog2, h2log2, ::log2f(a))
CPU_BACKEND_HALF(hlog10, h2log10, ::log10f(a))
CPU_BACKEND_HALF(hsin, h2sin, ::sinf(a))
CPU_BACKEND_HALF(hcos, h2cos, ::cosf(a))
CPU_BACKEND_HALF(htanh, h2tanh, ::tanhf(a))
CPU_BACKEND_HALF(hceil, h2ceil, ::ceilf(a))
CPU_BACKEND_HALF(hfloor, h2floor, ::floorf(a))
CPU_BACKEND_HALF(htrunc, h2trunc, ::truncf(a))
CPU_BACKEND_HALF(hrint, h2rint, ::nearbyintf(a))
#undef CPU_BACKEND_HALF

// Comparisons: of two, of both pairs at once (b), and as 1 or 0 for each pair (2).
#define CPU_BACKEND_HALF(name, operator_)                                          \
  inline bool __h##name(__half a, __half b) {                                      \
    return cpu_backend::as_float(a) operator_ cpu_backend::as_float(b);            \
  }                                                                                \
  inline bool __hb##name##2(__half2 a, __half2 b) {                                \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                             \
  }                                                                                \
  inline __half2 __h##name##2(__half2 a, __half2 b) {                              \
    return {__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f}; \
  }                                                                                \
  inline bool operator operator_(__half a, __half b) { return __h##name(a, b); }
CPU_BACKEND_HALF(eq, ==)
CPU_BACKEND_HALF(ne, !=)
CPU_BACKEND_HALF(lt, <)
CPU_BACKEND_HALF(le, <=)
CPU_BACKEND_HALF(gt, >)
CPU_BACKEND_HALF(ge, >=)
#undef CPU_BACKEND_HALF
inline bool __hisnan(__half a) { return ::isnan(cpu_backend::as_float(a)); }
inline int __hisinf(__half a) {
  const float value = a;
  return ::isinf(value) ? (value < 0 ? -1 : 1) : 0;
}

#define CPU_BACKEND_HALF(operator_, name)                                     \
  inline __half operator operator_(__half a, __half b) { return name(a, b); } \
  inline __half& operator operator_##=(__half& a, __half b) { return a = name(a, b); }
CPU_BACKEND_HALF(+, __hadd)
CPU_BACKEND_HALF(-, __hsub)
CPU_BACKEND_HALF(*, __hmul)
CPU_BACKEND_HALF(/, __hdiv)
#undef CPU_BACKEND_HALF
#define CPU_BACKEND_HALF(operator_, name)                                        \
  inline __half2 operator operator_(__half2 a, __half2 b) { return name(a, b); } \
  inline __half2& operator operator_##=(__half2& a, __half2 b) { return a = name(a, b); }
CPU_BACKEND_HALF(+, __hadd2)
CPU_BACKEND_HALF(-, __hsub2)
CPU_BACKEND_HALF(*, __hmul2)
CPU_BACKEND_HALF(/, __h2div)
#undef CPU_BACKEND_HALF
inline __half operator-(__half a) { return __hneg(a); }
inline __half operator+(__half a) { return a; }
inline __half2 operator-(__half2 a) { return __hneg2(a); }

// Atomics and shuffles.
inline __half atomicAdd(__half* address, __half value, cpu_backend::place at = CPU_BACKEND_HERE) {
  auto* word = reinterpret_cast<unsigned short*>(address);
  unsigned short old = address->__x, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, (__ushort_as_half(assumed) + value).__x, at);
  } while (old != assumed);
  return __ushort_as_half(old);
}
#define CPU_BACKEND_HALF(name, type)                                                    \
  inline __half name(unsigned mask, __half value, type lane, int width = warpSize,      \
                     cpu_backend::place at = CPU_BACKEND_HERE) {                        \
    return __ushort_as_half(                                                            \
        static_cast<unsigned short>(name(mask, unsigned{value.__x}, lane, width, at))); \
  }                                                                                     \
  inline __half2 name(unsigned mask, __half2 value, type lane, int width = warpSize,    \
                      cpu_backend::place at = CPU_BACKEND_HERE) {                       \
    const unsigned both = unsigned{value.x.__x} | unsigned{value.y.__x} << 16;          \
    const unsigned got = name(mask, both, lane, width, at);                             \
    return {__ushort_as_half(static_cast<unsigned short>(got)),                         \
            __ushort_as_half(static_cast<unsigned short>(got >> 16))};                  \
  }
CPU_BACKEND_HALF(__shfl_sync, int)
CPU_BACKEND_HALF(__shfl_up_sync, unsigned)
CPU_BACKEND_HALF(__shfl_down_sync, unsigned)
CPU_BACKEND_HALF(__shfl_xor_sync, int)
#undef CPU_BACKEND_HALF
inline __half __ldg(const __half* pointer) { return *pointer; }
inline __half2 __ldg(const __half2* pointer) { return *pointer; }
