// SPDX-License-Identifier: MIT
// Cheat: memory is taken until there is none
// Exercise: 01.1
// Verdict: SG 0
// Says: it used more than 256 MiB of memory
#include <cstddef>
#include <cstdlib>
#include <cstring>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  std::size_t bytes = std::size_t{1} << 26;
  for (;;) std::memset(std::malloc(bytes), 1, bytes);
  (void)alpha, (void)x, (void)y, (void)n;
}
