// SPDX-License-Identifier: MIT
// Cheat: another kernel, which races, for large sizes alone
// Exercise: 01.1
// Says: two threads race
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

// Reads what its neighbour writes, and makes nothing of it: its results are right.
__global__ void add_carelessly(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i] + 0 * y[i ^ 1];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  if (n > 300'000) {
    add_carelessly<<<blocks, 256>>>(alpha, x, y, n);
  } else {
    add_scaled<<<blocks, 256>>>(alpha, x, y, n);
  }
}
