// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. 10,000 elements do not fill blocks of 256.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void add(const int* a, const int* b, int* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 10'000;
  constexpr int threads = 256;
  int *a, *b, *c;
  if (cudaMallocManaged(&a, n * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&b, n * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&c, n * sizeof(int)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    a[i] = i;
    b[i] = 2 * i;
    c[i] = -1;
  }
  add<<<n / threads, threads>>>(a, b, c);
  if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
    std::puts("the kernel failed");
    return 1;
  }
  int wrong = 0;
  int first = n;
  for (int i = n - 1; i >= 0; --i) {
    if (c[i] == a[i] + b[i]) continue;
    ++wrong;
    first = i;
  }
  std::printf("%d blocks of %d threads: %d of %d elements are wrong\n", n / threads, threads, wrong,
              n);
  if (wrong > 0) std::printf("element %d is %d, not %d\n", first, c[first], a[first] + b[first]);
  (void)cudaFree(a);
  (void)cudaFree(b);
  (void)cudaFree(c);
  return wrong > 0;
}
