// SPDX-License-Identifier: MIT
// Cheat: one block does all, in launches that are each within the limits
// Exercise: 01.1
// Verdict: OK 8
// Says: global stores per block
#include <algorithm>
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t first = 0; first < n; first += 1000) {
    const std::size_t count = std::min<std::size_t>(1000, n - first);
    add_scaled<<<1, 32>>>(alpha, x + first, y + first, count);
  }
}
