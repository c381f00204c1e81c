// SPDX-License-Identifier: MIT
// Cheat: the host computes in the device's memory, from a callback of the stream
// Exercise: 01.1
// Verdict: RE 0
// Says: by host code in memory of the device
#include <cstddef>

struct job {
  float alpha;
  const float* x;
  float* y;
  std::size_t n;
};

__global__ void touch(const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && x[i] == 12345.5f) y[i] = 0;
  if (i < n) y[i] = y[i];
}

void work(void* of) {
  const job& now = *static_cast<job*>(of);
  for (std::size_t i = 0; i < now.n; ++i) now.y[i] += now.alpha * now.x[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  static job now;
  now = {alpha, x, y, n};
  touch<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, y, n);
  cudaLaunchHostFunc(nullptr, work, &now);
}
