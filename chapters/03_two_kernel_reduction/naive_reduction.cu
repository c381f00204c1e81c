// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. Block 0 adds up what the other blocks leave,
// in the kernel in which they leave it.
#include <cuda_runtime.h>

#include <cstdio>

constexpr unsigned blocks = 16384;
constexpr unsigned threads = 256;

// Each block's share of a sum of ones is its number of threads.
__global__ void sum_of_ones(unsigned* partials, unsigned* sum) {
  __shared__ unsigned share;
  if (threadIdx.x == 0) share = 0;
  __syncthreads();
  atomicAdd(&share, 1u);
  __syncthreads();
  if (threadIdx.x == 0) partials[blockIdx.x] = share;
  __syncthreads();  // A barrier of this block. No other block waits here.
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) *sum += partials[block];
  }
}

int main() {
  unsigned *partials, *sum;
  if (cudaMallocManaged(&partials, blocks * sizeof(unsigned)) != cudaSuccess ||
      cudaMallocManaged(&sum, sizeof(unsigned)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  bool right = true;
  for (int launch = 1; launch <= 3; ++launch) {
    for (unsigned block = 0; block < blocks; ++block) partials[block] = 0;
    sum_of_ones<<<blocks, threads>>>(partials, sum);
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
      std::puts("the kernel failed");
      return 1;
    }
    std::printf("launch %d: %u of %u, from %u of %u blocks\n", launch, *sum, blocks * threads,
                *sum / threads, blocks);
    right = right && *sum == blocks * threads;
  }
  (void)cudaFree(partials);
  (void)cudaFree(sum);
  return right ? 0 : 1;
}
