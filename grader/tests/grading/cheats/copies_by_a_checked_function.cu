// SPDX-License-Identifier: MIT
// Cheat: stores by a function of the C library that the race checker does not know
// Exercise: 01.1
// Verdict: CE 0
// Says: It has __builtin___memcpy_chk
#include <cstddef>

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    __builtin___memcpy_chk(&y[i], &sum, sizeof sum, n);
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}
