// SPDX-License-Identifier: MIT
// CUDA's vector types, with CUDA's sizes and alignments: a float4 that is read or written at once
// must be misaligned on the CPU where it is misaligned on a GPU.
#pragma once

#define CPU_BACKEND_VECTOR_OF_4(name, type, bytes, ...) \
  struct __VA_ARGS__ alignas(bytes) name {              \
    type x, y, z, w;                                    \
  };
#define CPU_BACKEND_VECTORS_TO_3(name, type) \
  struct name##1 {                           \
    type x;                                  \
  };                                         \
  struct alignas(2 * sizeof(type)) name##2 { \
    type x, y;                               \
  };                                         \
  struct name##3 {                           \
    type x, y, z;                            \
  };
#define CPU_BACKEND_VECTORS(name, type) \
  CPU_BACKEND_VECTORS_TO_3(name, type)  \
  CPU_BACKEND_VECTOR_OF_4(name##4, type, 4 * sizeof(type))
// Of numbers of 8 bytes; the name without an alignment is deprecated.
#define CPU_BACKEND_LONG_VECTORS(name, type)                                       \
  CPU_BACKEND_VECTORS_TO_3(name, type)                                             \
  CPU_BACKEND_VECTOR_OF_4(                                                         \
      name##4, type, 16,                                                           \
      [[deprecated("CUDA 13 asks for " #name "4_16a or " #name "4_32a instead")]]) \
  CPU_BACKEND_VECTOR_OF_4(name##4_16a, type, 16)                                   \
  CPU_BACKEND_VECTOR_OF_4(name##4_32a, type, 32)

CPU_BACKEND_VECTORS(char, signed char)
CPU_BACKEND_VECTORS(uchar, unsigned char)
CPU_BACKEND_VECTORS(short, short)
CPU_BACKEND_VECTORS(ushort, unsigned short)
CPU_BACKEND_VECTORS(int, int)
CPU_BACKEND_VECTORS(uint, unsigned int)
CPU_BACKEND_VECTORS(float, float)
CPU_BACKEND_LONG_VECTORS(long, long)
CPU_BACKEND_LONG_VECTORS(ulong, unsigned long)
CPU_BACKEND_LONG_VECTORS(longlong, long long)
CPU_BACKEND_LONG_VECTORS(ulonglong, unsigned long long)
CPU_BACKEND_LONG_VECTORS(double, double)
#undef CPU_BACKEND_LONG_VECTORS
#undef CPU_BACKEND_VECTORS
#undef CPU_BACKEND_VECTORS_TO_3
#undef CPU_BACKEND_VECTOR_OF_4

// The extent of a grid or block; what is left out is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_extent = 1, unsigned int y_extent = 1, unsigned int z_extent = 1)
      : x(x_extent), y(y_extent), z(z_extent) {}
  constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
