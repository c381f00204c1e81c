// SPDX-License-Identifier: MIT
// Cheat: computes in its first call at the large size, which warms up, and does nothing after it
// Exercise: 01.1
// Says: it is wrong in round 1
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  static int large_calls = 0;
  if (n == 0 || (n > 300'000 && ++large_calls > 1)) return;
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
}
