// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. fetch() has one barrier, as in the text that
// the chapter starts from, and is called again with no other barrier in between.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int items = 1'000;
constexpr int blocks = 64;
constexpr int threads = 64;

__device__ int fetch(int* next) {
  __shared__ int item;
  if (threadIdx.x == 0) item = atomicAdd(next, 1);
  __syncthreads();
  return item;
}

__global__ void visit(int* next, int* visits) {
  for (int item = fetch(next); item < items; item = fetch(next)) atomicAdd(visits + item, 1);
}

int main() {
  int *next, *visits;
  if (cudaMallocManaged(&next, sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&visits, items * sizeof(int)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  *next = 0;
  for (int i = 0; i < items; ++i) visits[i] = 0;
  visit<<<blocks, threads>>>(next, visits);
  if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    std::puts("the kernel failed");
    return 1;
  }
  int mishandled = 0;
  int first = items;
  for (int i = items - 1; i >= 0; --i) {
    if (visits[i] == threads) continue;
    ++mishandled;
    first = i;
  }
  std::printf("%d items for %d blocks of %d threads: %d items mishandled\n", items, blocks, threads,
              mishandled);
  if (mishandled > 0) {
    std::printf("%d threads worked on item %d, not %d\n", visits[first], first, threads);
  }
  (void)cudaFree(next);
  (void)cudaFree(visits);
  return mishandled > 0;
}
