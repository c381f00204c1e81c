// SPDX-License-Identifier: MIT
#pragma once

constexpr int blocks = 4;
constexpr int threads = 64;
constexpr int elements = blocks * threads;

__global__ void add_up(const int* values, int* sum) {
  const int mine = values[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef WITHOUT_ATOMIC
  *sum = *sum + mine;
#else
  atomicAdd(sum, mine);
#endif
}
