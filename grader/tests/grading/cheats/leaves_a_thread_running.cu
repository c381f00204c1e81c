// SPDX-License-Identifier: MIT
// Cheat: a thread is left running, which could go on after the answer
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses
#include <chrono>
#include <cstddef>
#include <thread>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  std::thread([] {
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }).detach();
  if (n == 0) return;
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
}
