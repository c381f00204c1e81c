// SPDX-License-Identifier: MIT
#include <cstdio>

#include "scale.cuh"

int main() {
  constexpr int count = 130;
  float* values = nullptr;
  cudaMallocManaged(&values, (count + 1) * sizeof(float));
  for (int i = 0; i < count; ++i) values[i] = 1;
  float* const sum = values + count;
  *sum = 0;
  launch_scale(values, count);
  launch_sum(values, count, sum);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%g\n", *sum);
  cudaFree(values);
  return error != cudaSuccess;
}
