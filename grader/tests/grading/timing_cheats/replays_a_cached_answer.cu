// SPDX-License-Identifier: MIT
// Cheat: keeps the answer to its first call for each size, and copies it from then on
// Exercise: 01.1
// Says: it is wrong in round 1
#include <cstddef>
#include <map>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  static std::map<std::size_t, float*> answers;
  const bool is_large = n > 300'000;
  if (is_large && answers.contains(n)) {
    cudaMemcpy(y, answers[n], n * sizeof(float), cudaMemcpyDeviceToDevice);
    return;
  }
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
  if (!is_large) return;
  cudaMalloc(&answers[n], n * sizeof(float));
  cudaMemcpy(answers[n], y, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
