// SPDX-License-Identifier: MIT
// CUDA's vector types, with CUDA's sizes and alignments: a float4 that is read or written at once
// must be misaligned on the CPU where it is misaligned on a GPU.
#pragma once

struct char1 {
  signed char x;
};
struct alignas(2) char2 {
  signed char x, y;
};
struct char3 {
  signed char x, y, z;
};
struct alignas(4) char4 {
  signed char x, y, z, w;
};

struct uchar1 {
  unsigned char x;
};
struct alignas(2) uchar2 {
  unsigned char x, y;
};
struct uchar3 {
  unsigned char x, y, z;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};

struct short1 {
  short x;
};
struct alignas(4) short2 {
  short x, y;
};
struct short3 {
  short x, y, z;
};
struct alignas(8) short4 {
  short x, y, z, w;
};

struct ushort1 {
  unsigned short x;
};
struct alignas(4) ushort2 {
  unsigned short x, y;
};
struct ushort3 {
  unsigned short x, y, z;
};
struct alignas(8) ushort4 {
  unsigned short x, y, z, w;
};

struct int1 {
  int x;
};
struct alignas(8) int2 {
  int x, y;
};
struct int3 {
  int x, y, z;
};
struct alignas(16) int4 {
  int x, y, z, w;
};

struct uint1 {
  unsigned int x;
};
struct alignas(8) uint2 {
  unsigned int x, y;
};
struct uint3 {
  unsigned int x, y, z;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};

struct long1 {
  long x;
};
struct alignas(16) long2 {
  long x, y;
};
struct long3 {
  long x, y, z;
};
struct [[deprecated("CUDA 13 asks for long4_16a or long4_32a instead")]] alignas(16) long4 {
  long x, y, z, w;
};
struct alignas(16) long4_16a {
  long x, y, z, w;
};
struct alignas(32) long4_32a {
  long x, y, z, w;
};

struct ulong1 {
  unsigned long x;
};
struct alignas(16) ulong2 {
  unsigned long x, y;
};
struct ulong3 {
  unsigned long x, y, z;
};
struct [[deprecated("CUDA 13 asks for ulong4_16a or ulong4_32a instead")]] alignas(16) ulong4 {
  unsigned long x, y, z, w;
};
struct alignas(16) ulong4_16a {
  unsigned long x, y, z, w;
};
struct alignas(32) ulong4_32a {
  unsigned long x, y, z, w;
};

struct longlong1 {
  long long x;
};
struct alignas(16) longlong2 {
  long long x, y;
};
struct longlong3 {
  long long x, y, z;
};
struct [[deprecated("CUDA 13 asks for longlong4_16a or longlong4_32a instead")]] alignas(
    16) longlong4 {
  long long x, y, z, w;
};
struct alignas(16) longlong4_16a {
  long long x, y, z, w;
};
struct alignas(32) longlong4_32a {
  long long x, y, z, w;
};

struct ulonglong1 {
  unsigned long long x;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
struct ulonglong3 {
  unsigned long long x, y, z;
};
struct [[deprecated("CUDA 13 asks for ulonglong4_16a or ulonglong4_32a instead")]] alignas(16)
    ulonglong4 {
  unsigned long long x, y, z, w;
};
struct alignas(16) ulonglong4_16a {
  unsigned long long x, y, z, w;
};
struct alignas(32) ulonglong4_32a {
  unsigned long long x, y, z, w;
};

struct float1 {
  float x;
};
struct alignas(8) float2 {
  float x, y;
};
struct float3 {
  float x, y, z;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

struct double1 {
  double x;
};
struct alignas(16) double2 {
  double x, y;
};
struct double3 {
  double x, y, z;
};
struct [[deprecated("CUDA 13 asks for double4_16a or double4_32a instead")]] alignas(16) double4 {
  double x, y, z, w;
};
struct alignas(16) double4_16a {
  double x, y, z, w;
};
struct alignas(32) double4_32a {
  double x, y, z, w;
};

// The extent of a grid or block; what is left out is 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_extent = 1, unsigned int y_extent = 1, unsigned int z_extent = 1)
      : x(x_extent), y(y_extent), z(z_extent) {}
  constexpr dim3(uint3 extent) : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
