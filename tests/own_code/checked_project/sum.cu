// SPDX-License-Identifier: MIT
// Each block adds its part of the input to one sum. With -DWITHOUT_ATOMIC two blocks can lose what
// the other one has added, which no result shows on most runs.
#include <cstdio>

#include "sum.cuh"

int main() {
  int* all = nullptr;
  if (cudaMallocManaged(&all, (elements + 1) * sizeof(int)) != cudaSuccess) return 1;
  for (int i = 0; i < elements; ++i) all[i] = 1;
  all[elements] = 0;
  add_up<<<blocks, threads>>>(all, all + elements);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::printf("%d, expected %d\n", all[elements], elements);
  return 0;
}
