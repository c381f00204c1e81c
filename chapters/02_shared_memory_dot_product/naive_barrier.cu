// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. The last thread of a block adds up what all
// threads have put into shared memory, and no barrier makes it wait for them.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int threads = 256;

__global__ void add_up(const int* values, int* sum) {
  __shared__ int shared[threads];
  shared[threadIdx.x] = values[threadIdx.x];
  if (threadIdx.x == threads - 1) {
    int total = 0;
    for (int i = 0; i < threads; ++i) total += shared[i];
    *sum = total;
  }
}

int main() {
  int *values, *sum;
  if (cudaMallocManaged(&values, threads * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&sum, sizeof(int)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  for (int i = 0; i < threads; ++i) values[i] = i + 1;
  add_up<<<1, threads>>>(values, sum);
  if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    std::puts("the kernel failed");
    return 1;
  }
  constexpr int expected = threads * (threads + 1) / 2;
  const bool right = *sum == expected;
  std::printf("1 + 2 + ... + %d = %d, %s\n", threads, *sum, right ? "right" : "WRONG");
  (void)cudaFree(values);
  (void)cudaFree(sum);
  return right ? 0 : 1;
}
