// SPDX-License-Identifier: MIT
// Cheat: an endless loop on the host
// Exercise: 01.1
// Verdict: TO 0
// Says: It did not end within 2 s

#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  volatile bool goes_on = true;
  while (goes_on) {
  }
  (void)alpha, (void)x, (void)y, (void)n;
}
