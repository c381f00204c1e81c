// SPDX-License-Identifier: MIT
// CUDA's integer intrinsics. The CUDA Math API, "Integer Intrinsics" and "SIMD Intrinsics", defines
// them; the bodies are the definitions spelled out.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

inline int __popc(unsigned int x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }

// Leading zeros: 32 (64) for 0.
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned int>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }

// The position of the lowest bit that is set, counted from 1; 0 for 0.
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

// The bits in reverse order: neighbours change places, then pairs, and so on.
inline unsigned int __brev(unsigned int x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32 |
         __brev(static_cast<unsigned int>(x >> 32));
}

// Four bytes picked from the eight of y:x by the low three bits of each hexadecimal digit of
// `selector`. (PTX's prmt can also replicate a sign; this function of CUDA cannot.)
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned int result = 0;
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int picked = selector >> (4 * i) & 0x7;
    result |= static_cast<unsigned int>(bytes >> (8 * picked) & 0xff) << (8 * i);
  }
  return result;
}

// The low 32 bits of the product of the low 24 bits.
inline unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
inline int __mul24(int x, int y) {
  const auto low_24 = [](int value) {
    return static_cast<unsigned int>(static_cast<int>(static_cast<unsigned int>(value) << 8) >> 8);
  };
  return static_cast<int>(low_24(x) * low_24(y));
}

// The high half of the product.
inline int __mulhi(int x, int y) {
  return static_cast<int>(static_cast<std::int64_t>(x) * y >> 32);
}
inline unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>(std::uint64_t{x} * y >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  __extension__ using int128 = __int128;
  return static_cast<long long>(static_cast<int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ using uint128 = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<uint128>(x) * y >> 64);
}

// |x - y| + z
inline unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}
inline unsigned int __sad(int x, int y, unsigned int z) {
  const auto first = static_cast<unsigned int>(x);
  const auto second = static_cast<unsigned int>(y);
  return (x > y ? first - second : second - first) + z;
}

// The mean, rounded down (__hadd) or up (__rhadd), without overflow.
inline int __hadd(int x, int y) { return static_cast<int>((std::int64_t{x} + y) >> 1); }
inline int __rhadd(int x, int y) { return static_cast<int>((std::int64_t{x} + y + 1) >> 1); }
inline unsigned int __uhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((std::uint64_t{x} + y) >> 1);
}
inline unsigned int __urhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((std::uint64_t{x} + y + 1) >> 1);
}

// high:low shifted by `shift`, of which the plain forms take the low five bits and the c forms at
// most
// 32. The left shifts return the upper, the right shifts the lower 32 bits.
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

namespace cpu_backend {

// Integer functions on the bytes and the half words of a 32-bit number. The CUDA Math API, "SIMD
// Intrinsics" and "Integer Intrinsics", defines them.

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
