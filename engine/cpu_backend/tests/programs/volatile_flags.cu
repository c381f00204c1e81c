// SPDX-License-Identifier: MIT
#include <cooperative_groups.h>
#include <cstdio>
__global__ void k(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0)
      ;
    out[0] = flag;
  }
  if (threadIdx.x == 5) {
    flag = 7;
  }
}
__global__ void k2(volatile int* f, int* out) {
  if (threadIdx.x == 0) {
    int v;
    do {
      v = f[0];
    } while (v == 0);
    out[1] = v;
  }
  if (threadIdx.x == 1) {
    while (true) {
      if (f[1]) break;
    }
    f[0] = 3;
  }
  if (threadIdx.x == 2) {
    f[1] = 1;
  }
}
__global__ void k3(int* f, int* out) {
  if (threadIdx.x == 0) {
    for (; *(volatile int*)f == 0;) {
    }
    out[2] = 9;
  }
  if (threadIdx.x == 1) {
    *(volatile int*)f = 1;
  }
}
__global__ void coop(int* out, int n) {
  cooperative_groups::this_grid().sync();
  long t = clock();
  if (clock() >= t && threadIdx.x == 0) atomicAdd(out + 3, n);
}
int main() {
  int *o, *f;
  cudaMallocManaged(&o, 40);
  cudaMallocManaged(&f, 40);
  f[0] = f[1] = 0;
  o[3] = 0;
  k<<<1, 64>>>(o);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  k2<<<1, 64>>>(f, o);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  f[0] = 0;
  k3<<<1, 64>>>(f, o);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  int n = 4;
  void* a[] = {&o, &n};
  cudaLaunchCooperativeKernel((void*)coop, dim3(2), dim3(32), a, 0, 0);
  cudaDeviceSynchronize();
  int* f1 = f;
  void* b[] = {&f1, &o};
  f[0] = 0;
  cudaLaunchKernel(reinterpret_cast<const void*>(k3), dim3(1), dim3(64), b);

  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", o[0], o[1], o[2], o[3]);
}
