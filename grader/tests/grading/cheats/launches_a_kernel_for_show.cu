// SPDX-License-Identifier: MIT
// Cheat: the host computes, and a kernel that does nothing is launched as well
// Exercise: 01.1
// Verdict: OK 0
// Says: your kernels do too little for it
#include <cstddef>
#include <vector>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  std::vector<float> a(n), b(n);
  if (n == 0) return;
  cudaMemcpy(a.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(b.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < n; ++i) b[i] = alpha * a[i] + b[i];
  cudaMemcpy(y, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_scaled<<<1, 1>>>(0, x, y, 1);
}
