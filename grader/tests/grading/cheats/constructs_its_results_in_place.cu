// SPDX-License-Identifier: MIT
// Cheat: one thread constructs all results in place; the others store what is there
// Exercise: 01.1
// Verdict: CE 0
// Says: placement new
#include <cstddef>
#include <new>
struct four {
  float v[8];
};
__attribute__((noinline)) __device__ four part(float alpha, four x, four y) {
  for (int k = 0; k < 8; ++k) y.v[k] += alpha * x.v[k];
  return y;
}
struct put {
  four at;
  __attribute__((noinline)) __device__ put(float alpha, const float* x, const float* y)
      : at(part(alpha, *(const four*)x, *(const four*)y)) {}
};
__attribute__((noinline)) __device__ void all(float alpha, const float* x, float* y,
                                              std::size_t n) {
  for (std::size_t i = 0; i + 8 <= n; i += 8) new (y + i) put(alpha, x + i, y + i);
}
__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i == 0) all(alpha, x, y, n);
  if (i >= n) return;
  if (i < n / 8 * 8) {
    (void)*(const volatile float*)(x + i);
    const float same = *(const volatile float*)(y + i);
    *(volatile float*)(y + i) = same;
  } else {
    y[i] += alpha * x[i];
  }
}
void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  add_scaled<<<(n + 255) / 256, 256>>>(alpha, x, y, n);
}
