// SPDX-License-Identifier: MIT
// Arithmetic and conversions whose rounding is part of their name, and CUDA's reinterpretations of
// a value's bits.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace cpu_backend {

// Hides from the compiler where a value comes from. A product that passes through here cannot
// become half of a fused multiply-add, which g++ otherwise makes by default wherever the processor
// has one.
template <std::floating_point T>
inline T opaque(T value) {
#if defined(__x86_64__)
  __asm__("" : "+x"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#else
  __asm__("" : "+m"(value));
#endif
  return value;
}

// Computes `operation` under a rounding mode other than the default. Volatile, because the
// compilers do not see that arithmetic depends on the mode: the operands are read after it is set,
// and the result is written before it is set back.
template <int Mode, class Operation, class... Operands>
inline auto in_mode(Operation operation, Operands... operands) {
  const auto read = [](auto operand) {
    volatile auto hidden = operand;
    return hidden;
  };
  std::fesetround(Mode);
  volatile auto result = operation(read(operands)...);
  std::fesetround(FE_TONEAREST);
  return static_cast<decltype(operation(operands...))>(result);
}

inline constexpr auto add = [](auto x, auto y) { return x + y; };
inline constexpr auto subtract = [](auto x, auto y) { return x - y; };
inline constexpr auto multiply = [](auto x, auto y) { return x * y; };
inline constexpr auto divide = [](auto x, auto y) { return x / y; };
inline constexpr auto reciprocal = [](auto x) { return decltype(x){1} / x; };
inline constexpr auto square_root = [](auto x) { return std::sqrt(x); };
inline constexpr auto fused_multiply_add = [](auto x, auto y, auto z) { return std::fma(x, y, z); };

// The default mode needs no change of mode, only operands and a result that nothing is fused with.
template <class Operation, class... Operands>
inline auto to_nearest(Operation operation, Operands... operands) {
  return opaque(operation(opaque(operands)...));
}

}  // namespace cpu_backend

// One operation is four functions: to nearest even, towards zero, up, down.
#define CPU_BACKEND_ROUNDED(name, type, operation, parameters, ...)                  \
  inline type name##_rn parameters {                                                 \
    return cpu_backend::to_nearest(cpu_backend::operation, __VA_ARGS__);             \
  }                                                                                  \
  inline type name##_rz parameters {                                                 \
    return cpu_backend::in_mode<FE_TOWARDZERO>(cpu_backend::operation, __VA_ARGS__); \
  }                                                                                  \
  inline type name##_ru parameters {                                                 \
    return cpu_backend::in_mode<FE_UPWARD>(cpu_backend::operation, __VA_ARGS__);     \
  }                                                                                  \
  inline type name##_rd parameters {                                                 \
    return cpu_backend::in_mode<FE_DOWNWARD>(cpu_backend::operation, __VA_ARGS__);   \
  }

CPU_BACKEND_ROUNDED(__fadd, float, add, (float x, float y), x, y)
CPU_BACKEND_ROUNDED(__fsub, float, subtract, (float x, float y), x, y)
CPU_BACKEND_ROUNDED(__fmul, float, multiply, (float x, float y), x, y)
CPU_BACKEND_ROUNDED(__fdiv, float, divide, (float x, float y), x, y)
CPU_BACKEND_ROUNDED(__frcp, float, reciprocal, (float x), x)
CPU_BACKEND_ROUNDED(__fsqrt, float, square_root, (float x), x)
CPU_BACKEND_ROUNDED(__fmaf, float, fused_multiply_add, (float x, float y, float z), x, y, z)

CPU_BACKEND_ROUNDED(__dadd, double, add, (double x, double y), x, y)
CPU_BACKEND_ROUNDED(__dsub, double, subtract, (double x, double y), x, y)
CPU_BACKEND_ROUNDED(__dmul, double, multiply, (double x, double y), x, y)
CPU_BACKEND_ROUNDED(__ddiv, double, divide, (double x, double y), x, y)
CPU_BACKEND_ROUNDED(__drcp, double, reciprocal, (double x), x)
CPU_BACKEND_ROUNDED(__dsqrt, double, square_root, (double x), x)
CPU_BACKEND_ROUNDED(__fma, double, fused_multiply_add, (double x, double y, double z), x, y, z)

#undef CPU_BACKEND_ROUNDED

namespace cpu_backend {

// Conversions whose rounding is part of their name. To an integer: a value out of range gives the
// nearest end of the range, where C++ leaves it undefined. CUDA Math API, "Type Casting
// Intrinsics".

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

// CUDA's reinterpretations of a value's bits. The CUDA Math API, "Type Casting Intrinsics", defines
// them.

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned int __float_as_uint(float x) { return std::bit_cast<unsigned int>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned int x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

inline int __double2hiint(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 32);
}
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<unsigned int>(high)} << 32 |
                               static_cast<unsigned int>(low));
}
