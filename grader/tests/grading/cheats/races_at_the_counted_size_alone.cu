// SPDX-License-Identifier: MIT
// Cheat: another kernel, which races, for the one size in which accesses are counted
// Exercise: 01.1
// Verdict: OK 8
// Says: Two threads race in the case that is counted

#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

// Two threads for each element, which write the same.
__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 2;
  const float sum = i < n ? alpha * x[i] + y[i] : 0;
  __syncthreads();
  if (i < n) y[i] = sum;
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  const auto blocks = static_cast<unsigned>((n + 255) / 256);
  if (n == 10'000) {
    add_twice<<<2 * blocks, 256>>>(alpha, x, y, n);
  } else if (n != 0) {
    add_scaled<<<blocks, 256>>>(alpha, x, y, n);
  }
}
