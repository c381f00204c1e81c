// SPDX-License-Identifier: MIT
// Cheat: endless output
// Exercise: 01.1
// Verdict: SG 0
// Says: it printed more than 1 MiB
#include <cstddef>
#include <cstdio>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  for (;;) std::puts("and on");
  (void)alpha, (void)x, (void)y, (void)n;
}
