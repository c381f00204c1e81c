// SPDX-License-Identifier: MIT
// CUDA's integer intrinsics. The CUDA Math API, "Integer Intrinsics", defines them; the bodies are
// the definitions spelled out.
#pragma once

#include <bit>
#include <cstdint>

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
