// SPDX-License-Identifier: MIT
// Cheat: a child process outlives the test
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses fork
#include <unistd.h>
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (fork() == 0) {
    for (;;) sleep(1);
  }
  if (n == 0) return;
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
}
