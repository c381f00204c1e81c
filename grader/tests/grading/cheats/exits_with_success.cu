// SPDX-License-Identifier: MIT
// Cheat: exit(0) instead of an answer
// Exercise: 01.1
// Verdict: RE 0
// Says: The program ended before it had answered
#include <cstddef>
#include <cstdlib>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  std::exit(0);
  (void)alpha, (void)x, (void)y, (void)n;
}
