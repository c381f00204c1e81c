// SPDX-License-Identifier: MIT
// Arithmetic whose rounding is part of its name (__fadd_rn, __dmul_rz, __fmaf_ru ...): each result
// is the exact one, rounded once in the given direction, and the compiler may neither fuse it with
// its neighbours nor move it. CUDA Math API, "Single Precision Intrinsics" and "Double Precision
// Intrinsics".
#pragma once

#include <cfenv>
#include <cmath>
#include <concepts>

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
#define CPU_BACKEND_UNARY(name, type, operation)                                               \
  inline type name##_rn(type x) { return cpu_backend::to_nearest(cpu_backend::operation, x); } \
  inline type name##_rz(type x) {                                                              \
    return cpu_backend::in_mode<FE_TOWARDZERO>(cpu_backend::operation, x);                     \
  }                                                                                            \
  inline type name##_ru(type x) {                                                              \
    return cpu_backend::in_mode<FE_UPWARD>(cpu_backend::operation, x);                         \
  }                                                                                            \
  inline type name##_rd(type x) {                                                              \
    return cpu_backend::in_mode<FE_DOWNWARD>(cpu_backend::operation, x);                       \
  }

#define CPU_BACKEND_BINARY(name, type, operation)                             \
  inline type name##_rn(type x, type y) {                                     \
    return cpu_backend::to_nearest(cpu_backend::operation, x, y);             \
  }                                                                           \
  inline type name##_rz(type x, type y) {                                     \
    return cpu_backend::in_mode<FE_TOWARDZERO>(cpu_backend::operation, x, y); \
  }                                                                           \
  inline type name##_ru(type x, type y) {                                     \
    return cpu_backend::in_mode<FE_UPWARD>(cpu_backend::operation, x, y);     \
  }                                                                           \
  inline type name##_rd(type x, type y) {                                     \
    return cpu_backend::in_mode<FE_DOWNWARD>(cpu_backend::operation, x, y);   \
  }

#define CPU_BACKEND_TERNARY(name, type, operation)                               \
  inline type name##_rn(type x, type y, type z) {                                \
    return cpu_backend::to_nearest(cpu_backend::operation, x, y, z);             \
  }                                                                              \
  inline type name##_rz(type x, type y, type z) {                                \
    return cpu_backend::in_mode<FE_TOWARDZERO>(cpu_backend::operation, x, y, z); \
  }                                                                              \
  inline type name##_ru(type x, type y, type z) {                                \
    return cpu_backend::in_mode<FE_UPWARD>(cpu_backend::operation, x, y, z);     \
  }                                                                              \
  inline type name##_rd(type x, type y, type z) {                                \
    return cpu_backend::in_mode<FE_DOWNWARD>(cpu_backend::operation, x, y, z);   \
  }

CPU_BACKEND_BINARY(__fadd, float, add)
CPU_BACKEND_BINARY(__fsub, float, subtract)
CPU_BACKEND_BINARY(__fmul, float, multiply)
CPU_BACKEND_BINARY(__fdiv, float, divide)
CPU_BACKEND_UNARY(__frcp, float, reciprocal)
CPU_BACKEND_UNARY(__fsqrt, float, square_root)
CPU_BACKEND_TERNARY(__fmaf, float, fused_multiply_add)

CPU_BACKEND_BINARY(__dadd, double, add)
CPU_BACKEND_BINARY(__dsub, double, subtract)
CPU_BACKEND_BINARY(__dmul, double, multiply)
CPU_BACKEND_BINARY(__ddiv, double, divide)
CPU_BACKEND_UNARY(__drcp, double, reciprocal)
CPU_BACKEND_UNARY(__dsqrt, double, square_root)
CPU_BACKEND_TERNARY(__fma, double, fused_multiply_add)

#undef CPU_BACKEND_UNARY
#undef CPU_BACKEND_BINARY
#undef CPU_BACKEND_TERNARY
