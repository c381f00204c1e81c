// SPDX-License-Identifier: MIT
// Cheat: the race checker is looked for, and only there the kernel is the right one
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses getenv
#include <cstddef>
#include <cstdlib>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (std::getenv("LAB_RACECHECK_REPORT")) {
    add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
  }
}
