// SPDX-License-Identifier: MIT
// Cheat: comments after a #, which a pattern may part in 2^n ways
// Exercise: 01.1
// Verdict: CE 0
// Says: It has a comment after #
// clang-format off
#include <cstddef>
#if 0
#/**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**//**/
#endif

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
