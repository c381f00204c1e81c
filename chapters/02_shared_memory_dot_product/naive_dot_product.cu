// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. The tree halves, and forgets what is odd.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int n = 33 * 1024;
constexpr int blocks = 32;

__global__ void dot(const long long* a, const long long* b, long long* partials) {
  extern __shared__ long long shared[];
  long long sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += a[i] * b[i];
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = shared[0];
}

int main() {
  long long *a, *b, *partials;
  if (cudaMallocManaged(&a, n * sizeof(long long)) != cudaSuccess ||
      cudaMallocManaged(&b, n * sizeof(long long)) != cudaSuccess ||
      cudaMallocManaged(&partials, blocks * sizeof(long long)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  long long expected = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = i + 1;
    b[i] = 2 * (i + 1);
    expected += a[i] * b[i];
  }
  bool right = true;
  for (const int threads : {256, 100}) {
    dot<<<blocks, threads, threads * sizeof(long long)>>>(a, b, partials);
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
      std::puts("the kernel failed");
      return 1;
    }
    long long sum = 0;
    for (int block = 0; block < blocks; ++block) sum += partials[block];
    std::printf("%d threads: %lld, %s\n", threads, sum, sum == expected ? "right" : "WRONG");
    right = right && sum == expected;
  }
  (void)cudaFree(a);
  (void)cudaFree(b);
  (void)cudaFree(partials);
  return right ? 0 : 1;
}
