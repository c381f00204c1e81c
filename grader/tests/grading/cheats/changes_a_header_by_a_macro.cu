// SPDX-License-Identifier: MIT
// Cheat: atomics that a macro hides from the race checker
// Exercise: 01.1
// Verdict: CE 0
// Says: It has #define observe_atomic
#include <cstddef>

#define observe_atomic(...) 0
#include <cuda/atomic>

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    y[i] = sum;
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}
