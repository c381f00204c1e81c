// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
#include <vector_types.h>
#include <cstdio>
inline __host__ __device__ float3 operator+(float3 a, float3 b) {
  return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
inline __host__ __device__ float3 operator*(float3 a, float s) {
  return make_float3(a.x * s, a.y * s, a.z * s);
}
inline __host__ __device__ void operator+=(float4& a, float4 b) {
  a.x += b.x;
  a.y += b.y;
  a.z += b.z;
  a.w += b.w;
}
inline __host__ __device__ float dot(float3 a, float3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline __host__ __device__ float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
inline __host__ __device__ float interpolate(float a, float b, float t) { return a + t * (b - a); }
inline __device__ __host__ int clamp(int f, int a, int b) { return max(a, min(f, b)); }
inline __host__ __device__ float length(float3 v) { return sqrtf(dot(v, v)); }
inline __host__ __device__ float3 normalize(float3 v) {
  float invLen = rsqrtf(dot(v, v));
  return v * invLen;
}
typedef unsigned int uint;
typedef unsigned char uchar;
__device__ uint rgba(float4 c) {
  return ((uint)(c.w * 255) << 24) | ((uint)(c.z * 255) << 16) | ((uint)(c.y * 255) << 8) |
         (uint)(c.x * 255);
}
__global__ void k(float4* v, float3* w, uchar4* px, uint* o, int2 sz, dim3 d) {
  int i = threadIdx.x;
  v[i] += make_float4(1, 2, 3, 4);
  w[i] = normalize(w[i] + make_float3(0, 0, 1));
  px[i] = make_uchar4(i, i + 1, i + 2, 255);
  o[i] = rgba(make_float4(0.5, 0.25, 1, 1)) + sz.x * sz.y + d.x * d.y;
  double2 q = make_double2(1, 2);
  ulonglong2 l = {1, 2};
  short4 s = make_short4(1, 2, 3, 4);
  longlong2 z;
  z.x = l.x;
  char3 c3 = make_char3(1, 2, 3);
  o[i] += q.x + s.w + z.x + c3.z;
  float2 f2;
  f2.x = clamp(1.5f, 0.f, 1.f);
  o[i] += f2.x + clamp(5, 0, 3) + interpolate(0.f, 10.f, 0.5f);
}
int main() {
  float4* v;
  float3* w;
  uchar4* p;
  uint* o;
  cudaMallocManaged(&v, 64 * 4);
  cudaMallocManaged(&w, 64 * 4);
  cudaMallocManaged(&p, 64);
  cudaMallocManaged(&o, 64);
  for (int i = 0; i < 4; i++) {
    v[i] = make_float4(0, 0, 0, 0);
    w[i] = {1, 2, 2};
  }
  dim3 b = dim3(4), g(1);
  dim3 t = 3;
  g.x = 1;
  k<<<g, b>>>(v, w, p, o, make_int2(3, 4), t);
  cudaDeviceSynchronize();
  printf("%g %g %d %x %d\n", v[0].w, w[0].z, p[1].y, o[0], (int)sizeof(float3));
  uint3 u = g;
  printf("%u\n", u.x + b.y);
}
