// SPDX-License-Identifier: MIT
// Integer functions on the bytes and the half words of a 32-bit number. The CUDA Math API, "SIMD
// Intrinsics" and "Integer Intrinsics", defines them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cpu_backend {

// Applies `operation` to each pair of parts, taken as numbers of type Part.
template <class Part, class Operation>
inline unsigned int on_parts(unsigned int a, unsigned int b, Operation operation) {
  using bits = std::make_unsigned_t<Part>;
  constexpr unsigned width = 8 * sizeof(Part);
  unsigned int result = 0;
  for (unsigned shift = 0; shift < 32; shift += width) {
    const auto left = static_cast<Part>(static_cast<bits>(a >> shift));
    const auto right = static_cast<Part>(static_cast<bits>(b >> shift));
    result |= static_cast<unsigned int>(static_cast<bits>(operation(left, right))) << shift;
  }
  return result;
}

template <class Part>
constexpr int saturated_part(int value) {
  constexpr bool is_signed = std::is_signed_v<Part>;
  constexpr int digits = 8 * sizeof(Part) - is_signed;
  constexpr int largest = (1 << digits) - 1;
  constexpr int smallest = is_signed ? -largest - 1 : 0;
  return value < smallest ? smallest : value > largest ? largest : value;
}

template <class Part, class Operation>
inline unsigned int sum_of_parts(unsigned int a, unsigned int b, Operation operation) {
  const unsigned int each = on_parts<Part>(a, b, operation);
  unsigned int sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Part)) {
    sum += static_cast<std::make_unsigned_t<Part>>(each >> shift);
  }
  return sum;
}

// c plus the products of the bytes of a and b.
template <class A, class B, class Sum>
inline Sum dot_of_bytes(unsigned int a, unsigned int b, Sum c) {
  auto sum = static_cast<unsigned int>(c);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    sum += static_cast<unsigned int>(static_cast<A>(a >> shift) * static_cast<B>(b >> shift));
  }
  return static_cast<Sum>(sum);
}
// c plus the products of the half words of a with two of the bytes of b, from byte `first` on.
template <class A, class B, class Sum>
inline Sum dot_of_halves(unsigned int a, unsigned int b, Sum c, unsigned first) {
  auto sum = static_cast<unsigned int>(c);
  for (unsigned i = 0; i < 2; ++i) {
    sum += static_cast<unsigned int>(static_cast<A>(a >> (16 * i))) *
           static_cast<unsigned int>(static_cast<B>(b >> (8 * (first + i))));
  }
  return static_cast<Sum>(sum);
}

}  // namespace cpu_backend

#define CPU_BACKEND_DOT(type, half, byte)                                              \
  inline type __dp4a(type a, type b, type c) {                                         \
    return cpu_backend::dot_of_bytes<byte, byte>(static_cast<unsigned int>(a),         \
                                                 static_cast<unsigned int>(b), c);     \
  }                                                                                    \
  inline type __dp2a_lo(type a, type b, type c) {                                      \
    return cpu_backend::dot_of_halves<half, byte>(static_cast<unsigned int>(a),        \
                                                  static_cast<unsigned int>(b), c, 0); \
  }                                                                                    \
  inline type __dp2a_hi(type a, type b, type c) {                                      \
    return cpu_backend::dot_of_halves<half, byte>(static_cast<unsigned int>(a),        \
                                                  static_cast<unsigned int>(b), c, 2); \
  }
CPU_BACKEND_DOT(int, std::int16_t, std::int8_t)
CPU_BACKEND_DOT(unsigned int, std::uint16_t, std::uint8_t)
#undef CPU_BACKEND_DOT

#define CPU_BACKEND_PARTS(name, part, expression)                                        \
  inline unsigned int name(unsigned int a, unsigned int b) {                             \
    return cpu_backend::on_parts<part>(a, b, [](int x, int y) { return (expression); }); \
  }
// A function of bytes (4) and one of half words (2), signed or unsigned.
#define CPU_BACKEND_SIGNED(name, expression)          \
  CPU_BACKEND_PARTS(name##4, std::int8_t, expression) \
  CPU_BACKEND_PARTS(name##2, std::int16_t, expression)
#define CPU_BACKEND_UNSIGNED(name, expression)         \
  CPU_BACKEND_PARTS(name##4, std::uint8_t, expression) \
  CPU_BACKEND_PARTS(name##2, std::uint16_t, expression)
#define CPU_BACKEND_SATURATED(name, kind, expression)                        \
  CPU_BACKEND_PARTS(name##4, std::kind##8_t,                                 \
                    cpu_backend::saturated_part<std::kind##8_t>(expression)) \
  CPU_BACKEND_PARTS(name##2, std::kind##16_t,                                \
                    cpu_backend::saturated_part<std::kind##16_t>(expression))

CPU_BACKEND_UNSIGNED(__vadd, x + y)
CPU_BACKEND_UNSIGNED(__vsub, x - y)
CPU_BACKEND_SATURATED(__vaddss, int, x + y)
CPU_BACKEND_SATURATED(__vaddus, uint, x + y)
CPU_BACKEND_SATURATED(__vsubss, int, x - y)
CPU_BACKEND_SATURATED(__vsubus, uint, x - y)
CPU_BACKEND_UNSIGNED(__vavgu, (x + y + 1) >> 1)
CPU_BACKEND_SIGNED(__vavgs, (x + y + (x + y >= 0)) >> 1)
CPU_BACKEND_UNSIGNED(__vhaddu, (x + y) >> 1)
CPU_BACKEND_SIGNED(__vabsdiffs, x < y ? y - x : x - y)
CPU_BACKEND_UNSIGNED(__vabsdiffu, x < y ? y - x : x - y)
CPU_BACKEND_SIGNED(__vmaxs, x < y ? y : x)
CPU_BACKEND_UNSIGNED(__vmaxu, x < y ? y : x)
CPU_BACKEND_SIGNED(__vmins, y < x ? y : x)
CPU_BACKEND_UNSIGNED(__vminu, y < x ? y : x)
// All bits of a part where the comparison holds (cmp), or its lowest bit (set).
#define CPU_BACKEND_COMPARISON(name, kind, operator_)      \
  CPU_BACKEND_##kind(__vcmp##name, x operator_ y ? -1 : 0) \
      CPU_BACKEND_##kind(__vset##name, x operator_ y ? 1 : 0)
CPU_BACKEND_COMPARISON(eq, UNSIGNED, ==)
CPU_BACKEND_COMPARISON(ne, UNSIGNED, !=)
CPU_BACKEND_COMPARISON(ges, SIGNED, >=)
CPU_BACKEND_COMPARISON(geu, UNSIGNED, >=)
CPU_BACKEND_COMPARISON(gts, SIGNED, >)
CPU_BACKEND_COMPARISON(gtu, UNSIGNED, >)
CPU_BACKEND_COMPARISON(les, SIGNED, <=)
CPU_BACKEND_COMPARISON(leu, UNSIGNED, <=)
CPU_BACKEND_COMPARISON(lts, SIGNED, <)
CPU_BACKEND_COMPARISON(ltu, UNSIGNED, <)

// The sum of the absolute differences.
inline unsigned int __vsadu4(unsigned int a, unsigned int b) {
  return cpu_backend::sum_of_parts<std::uint8_t>(
      a, b, [](int x, int y) { return x < y ? y - x : x - y; });
}
inline unsigned int __vsads4(unsigned int a, unsigned int b) {
  return cpu_backend::sum_of_parts<std::int8_t>(a, b,
                                                [](int x, int y) { return x < y ? y - x : x - y; });
}
inline unsigned int __vsadu2(unsigned int a, unsigned int b) {
  return cpu_backend::sum_of_parts<std::uint16_t>(
      a, b, [](int x, int y) { return x < y ? y - x : x - y; });
}
inline unsigned int __vsads2(unsigned int a, unsigned int b) {
  return cpu_backend::sum_of_parts<std::int16_t>(
      a, b, [](int x, int y) { return x < y ? y - x : x - y; });
}
inline unsigned int __vneg4(unsigned int a) { return __vsub4(0, a); }
inline unsigned int __vneg2(unsigned int a) { return __vsub2(0, a); }
inline unsigned int __vabs4(unsigned int a) { return __vmaxs4(a, __vneg4(a)); }
inline unsigned int __vabs2(unsigned int a) { return __vmaxs2(a, __vneg2(a)); }

#undef CPU_BACKEND_COMPARISON
#undef CPU_BACKEND_SATURATED
#undef CPU_BACKEND_UNSIGNED
#undef CPU_BACKEND_SIGNED
#undef CPU_BACKEND_PARTS
