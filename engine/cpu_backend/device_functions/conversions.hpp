// SPDX-License-Identifier: MIT
// Conversions whose rounding is part of their name. To an integer: a value out of range gives the
// nearest end of the range, where C++ leaves it undefined. CUDA Math API, "Type Casting
// Intrinsics".
#pragma once

#include <cfenv>
#include <cmath>
#include <limits>

#include "cpu_backend/device_functions/rounding.hpp"

namespace cpu_backend {

// `rounded` is integral, infinite or NaN. What CUDA makes of a NaN differs: 0 for 32 bits from a
// float, and the integer with only its highest bit set in the three other cases.
template <class Integer, class Float>
inline Integer saturate(Float rounded) {
  using limits = std::numeric_limits<Integer>;
  if (std::isnan(rounded)) {
    constexpr bool zero = sizeof(Integer) == 4 && sizeof(Float) == 4;
    return zero ? Integer{0}
                : static_cast<Integer>(1ull << (limits::digits + limits::is_signed - 1));
  }
  // One beyond the maximum, 2^digits, is exact in either type; the maximum itself need not be.
  if (rounded >= std::ldexp(Float{1}, limits::digits)) return limits::max();
  if (rounded < static_cast<Float>(limits::min())) return limits::min();
  return static_cast<Integer>(rounded);
}

template <class To>
inline constexpr auto convert = [](auto x) { return static_cast<To>(x); };

}  // namespace cpu_backend

#define CPU_BACKEND_TO_INTEGER(name, from, to)                                         \
  inline to name##_rn(from x) { return cpu_backend::saturate<to>(std::nearbyint(x)); } \
  inline to name##_rz(from x) { return cpu_backend::saturate<to>(std::trunc(x)); }     \
  inline to name##_ru(from x) { return cpu_backend::saturate<to>(std::ceil(x)); }      \
  inline to name##_rd(from x) { return cpu_backend::saturate<to>(std::floor(x)); }

CPU_BACKEND_TO_INTEGER(__float2int, float, int)
CPU_BACKEND_TO_INTEGER(__float2uint, float, unsigned int)
CPU_BACKEND_TO_INTEGER(__float2ll, float, long long)
CPU_BACKEND_TO_INTEGER(__float2ull, float, unsigned long long)
CPU_BACKEND_TO_INTEGER(__double2int, double, int)
CPU_BACKEND_TO_INTEGER(__double2uint, double, unsigned int)
CPU_BACKEND_TO_INTEGER(__double2ll, double, long long)
CPU_BACKEND_TO_INTEGER(__double2ull, double, unsigned long long)

#define CPU_BACKEND_TO_FLOAT(name, from, to)                                 \
  inline to name##_rn(from x) { return static_cast<to>(x); }                 \
  inline to name##_rz(from x) {                                              \
    return cpu_backend::in_mode<FE_TOWARDZERO>(cpu_backend::convert<to>, x); \
  }                                                                          \
  inline to name##_ru(from x) {                                              \
    return cpu_backend::in_mode<FE_UPWARD>(cpu_backend::convert<to>, x);     \
  }                                                                          \
  inline to name##_rd(from x) {                                              \
    return cpu_backend::in_mode<FE_DOWNWARD>(cpu_backend::convert<to>, x);   \
  }

CPU_BACKEND_TO_FLOAT(__int2float, int, float)
CPU_BACKEND_TO_FLOAT(__uint2float, unsigned int, float)
CPU_BACKEND_TO_FLOAT(__ll2float, long long, float)
CPU_BACKEND_TO_FLOAT(__ull2float, unsigned long long, float)
CPU_BACKEND_TO_FLOAT(__ll2double, long long, double)
CPU_BACKEND_TO_FLOAT(__ull2double, unsigned long long, double)
CPU_BACKEND_TO_FLOAT(__double2float, double, float)

#undef CPU_BACKEND_TO_INTEGER
#undef CPU_BACKEND_TO_FLOAT

// Exact, so there is only one form.
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned int x) { return x; }
