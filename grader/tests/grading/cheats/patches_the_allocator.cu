// SPDX-License-Identifier: MIT
// Cheat: what the checker itself allocates with is replaced
// Exercise: 01.1
// Verdict: CE 0
// Says: It defines _Znwm
#include <cstddef>
#include <new>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void* operator new(std::size_t bytes) {
  static char memory[1 << 26];
  static std::size_t used = 0;
  used += bytes + 64;
  return memory + used - bytes;
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
}
