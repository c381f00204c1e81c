// SPDX-License-Identifier: MIT
#include <cuComplex.h>
#include <cstdio>
struct cx {
  float r, i;
  __device__ cx(float a, float b) : r(a), i(b) {}
  __device__ float mag2() { return r * r + i * i; }
  __device__ cx operator*(const cx& a) { return cx(r * a.r - i * a.i, i * a.r + r * a.i); }
  __device__ cx operator+(const cx& a) { return cx(r + a.r, i + a.i); }
};
__device__ int julia(int x, int y) {
  cx c(-0.8f, 0.156f), a(x / 32.f, y / 32.f);
  for (int i = 0; i < 200; i++) {
    a = a * a + c;
    if (a.mag2() > 1000) return 0;
  }
  return 1;
}
__global__ void k(cuFloatComplex* o, cuDoubleComplex* d) {
  cuFloatComplex a = make_cuFloatComplex(1, 2), b = make_cuComplex(3, 4);
  o[0] = cuCmulf(a, b);
  o[1] = cuCdivf(a, b);
  o[2] = cuCaddf(a, cuConjf(b));
  o[3].x = cuCabsf(b);
  o[3].y = cuCrealf(a) + cuCimagf(b);
  d[0] = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(0, 1));
  d[1].x = cuCabs(d[0]);
  d[1].y = julia(1, 1);
  cuComplex f = cuCfmaf(a, b, a);
  o[3].y += f.x + cuCsubf(a, b).x;
}
int main() {
  cuFloatComplex* o;
  cuDoubleComplex* d;
  cudaMallocManaged(&o, 64);
  cudaMallocManaged(&d, 64);
  k<<<1, 1>>>(o, d);
  cudaDeviceSynchronize();
  printf("%g %g %g %g %g %g %g %g\n", o[0].x, o[0].y, o[1].x, o[2].y, o[3].x, o[3].y, d[0].x,
         d[1].x);
}
