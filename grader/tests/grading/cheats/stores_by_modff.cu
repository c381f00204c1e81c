// SPDX-License-Identifier: MIT
// Cheat: stores through the pointer that a function of the mathematical library takes
// Exercise: 01.1
// Verdict: OK 6
// Says: two threads race
#include <cmath>
#include <cstddef>

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    if (modff(sum, &y[i]) != 0) y[i] = sum;
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}
