// SPDX-License-Identifier: MIT
// make_int2(x, y) and its kin: one function for each vector type.
#pragma once

#include "vector_types.h"

// The compilers would report the four deprecated types here, and not where a program uses them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define CPU_BACKEND_MAKE_4(name, type, ...) \
  __VA_ARGS__ constexpr name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
#define CPU_BACKEND_MAKE_TO_3(name, type)                             \
  constexpr name##1 make_##name##1(type x) { return {x}; }            \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; } \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }
#define CPU_BACKEND_MAKE(name, type) \
  CPU_BACKEND_MAKE_TO_3(name, type)  \
  CPU_BACKEND_MAKE_4(name##4, type)
// Of numbers of 8 bytes: see vector_types.h.
#define CPU_BACKEND_MAKE_LONG(name, type)                                                    \
  CPU_BACKEND_MAKE_TO_3(name, type)                                                          \
  CPU_BACKEND_MAKE_4(                                                                        \
      name##4, type,                                                                         \
      [[deprecated("CUDA 13 asks for make_" #name "4_16a or make_" #name "4_32a instead")]]) \
  CPU_BACKEND_MAKE_4(name##4_16a, type)                                                      \
  CPU_BACKEND_MAKE_4(name##4_32a, type)

CPU_BACKEND_MAKE(char, signed char)
CPU_BACKEND_MAKE(uchar, unsigned char)
CPU_BACKEND_MAKE(short, short)
CPU_BACKEND_MAKE(ushort, unsigned short)
CPU_BACKEND_MAKE(int, int)
CPU_BACKEND_MAKE(uint, unsigned int)
CPU_BACKEND_MAKE(float, float)
CPU_BACKEND_MAKE_LONG(long, long)
CPU_BACKEND_MAKE_LONG(ulong, unsigned long)
CPU_BACKEND_MAKE_LONG(longlong, long long)
CPU_BACKEND_MAKE_LONG(ulonglong, unsigned long long)
CPU_BACKEND_MAKE_LONG(double, double)
#undef CPU_BACKEND_MAKE_LONG
#undef CPU_BACKEND_MAKE
#undef CPU_BACKEND_MAKE_TO_3
#undef CPU_BACKEND_MAKE_4

#pragma GCC diagnostic pop
