// SPDX-License-Identifier: MIT
#include "scale.cuh"

__global__ void scale(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = twice(values[i]);
}

void launch_scale(float* values, int count) { scale<<<(count + 63) / 64, 64>>>(values, count); }

__global__ void add_up(const float* values, int count, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef WITHOUT_ATOMIC
  if (i < count) *sum += values[i];
#else
  if (i < count) atomicAdd(sum, values[i]);
#endif
}

void launch_sum(const float* values, int count, float* sum) {
  add_up<<<(count + 63) / 64, 64>>>(values, count, sum);
}
