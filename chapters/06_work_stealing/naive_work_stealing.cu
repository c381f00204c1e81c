// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. The lambda looks at blockIdx, and not at the
// index that it is given.
#include <cuda_runtime.h>

#include <cstdio>

#include "06_work_stealing/canceled_blocks.cuh"

__global__ void add(const int* a, const int* b, int* c, int n, int* prologues) {
  if (threadIdx.x == 0) atomicAdd(prologues, 1);
  course::for_each_canceled_block<1>([=](dim3) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] += a[i] + b[i];
  });
}

int main() {
  constexpr int n = 10'000;
  constexpr int threads = 256;
  constexpr int blocks = (n + threads - 1) / threads;
  int *a, *b, *c, *prologues;
  if (cudaMallocManaged(&a, n * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&b, n * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&c, n * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&prologues, sizeof(int)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  *prologues = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    b[i] = 2 * i;
    c[i] = 1;
  }
  add<<<blocks, threads>>>(a, b, c, n, prologues);
  if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    std::puts("the kernel failed");
    return 1;
  }
  int untouched = 0;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    wrong += c[i] != 1 + a[i] + b[i];
    untouched += c[i] == 1 && i > 0;
  }
  std::printf("%d of %d blocks were launched: %d of %d elements are wrong, %d were never added\n",
              *prologues, blocks, wrong, n, untouched);
  (void)cudaFree(a);
  (void)cudaFree(b);
  (void)cudaFree(c);
  (void)cudaFree(prologues);
  return wrong > 0;
}
