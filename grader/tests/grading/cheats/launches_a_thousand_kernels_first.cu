// SPDX-License-Identifier: MIT
// Cheat: launches so many empty kernels that the one which works is not counted
// Exercise: 01.1
// Verdict: OK 8
// Says: launches more kernels than are counted
#include <cstddef>

__global__ void nothing() {}

// For show: it moves as much as a solution does, and changes nothing.
__global__ void touch(const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] == 12345.5f ? 0 : y[i];
}

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  touch<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, n);
  for (int i = 0; i < 1000 && n > 5000 && n < 15'000; ++i) nothing<<<1, 1>>>();
  add_scaled<<<1, 1>>>(alpha, x, y, n);
}
