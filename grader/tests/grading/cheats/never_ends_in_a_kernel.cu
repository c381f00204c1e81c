// SPDX-License-Identifier: MIT
// Cheat: a kernel that never ends, which a machine with much to do would notice later
// Exercise: 01.1
// Verdict: TO 0
// Says: It did not end within 2 s
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned odd = 2 * static_cast<unsigned>(i) + 1;
  while (odd % 2 == 1) odd *= 3;
  if (i < n) y[i] = alpha * x[i] + y[i] + static_cast<float>(odd);
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  if (n != 0) add_scaled<<<blocks, 256>>>(alpha, x, y, n);
}
