// SPDX-License-Identifier: MIT
// Cheat: slow work in memory of its own, and an asynchronous copy that ends after the return
// Exercise: 01.1
// Says: its time is the whole of it
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    float sum = y[i];
    for (int turn = 0; turn < (n > 300'000 ? 300 : 0); ++turn) sum = sum * 1.5f / 1.5f;
    y[i] = alpha * x[i] + y[i] + (sum == 12345.5f ? 1.0f : 0.0f);
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  static cudaStream_t own = nullptr;
  static float* there = nullptr;
  static std::size_t room = 0;
  if (own == nullptr) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  if (n == 0) return;
  if (room < n) {
    cudaFree(there);
    cudaMalloc(&there, n * sizeof(float));
    room = n;
  }
  cudaMemcpyAsync(there, y, n * sizeof(float), cudaMemcpyDeviceToDevice, own);
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256, 0, own>>>(alpha, x, there, n);
  cudaMemcpyAsync(y, there, n * sizeof(float), cudaMemcpyDeviceToDevice, own);
}
