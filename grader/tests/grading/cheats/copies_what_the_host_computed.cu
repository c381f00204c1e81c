// SPDX-License-Identifier: MIT
// Cheat: the host computes, and a kernel that has no race copies the answer: this is not found
// Exercise: 01.1
// Verdict: OK 11
// Says:
#include <cstddef>
#include <vector>

__global__ void copy(const float* answer, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = answer[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  std::vector<float> a(n), b(n);
  cudaMemcpy(a.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(b.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < n; ++i) b[i] = alpha * a[i] + b[i];
  float* answer = nullptr;
  cudaMalloc(&answer, n * sizeof(float));
  cudaMemcpy(answer, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  copy<<<static_cast<unsigned>((n + 255) / 256), 256>>>(answer, y, n);
  cudaFree(answer);
}
