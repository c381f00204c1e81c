// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstdio>
#include <cstdlib>
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double* a, double b) { return *a += b; }
#endif
#ifdef __CUDA_ARCH__
#define WHERE "device"
#else
#define WHERE "host"
#endif
namespace util {
template <class T>
__host__ __device__ T pick(T a) {
#ifdef __CUDA_ARCH__
  return a * 2;
#else
  return a * 3;
#endif
}
struct S {
  int x;
  __host__ __device__ S(int v) : x(v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    x += 1;
#endif
  }
  __host__ __device__ constexpr int get() const {
#ifdef __CUDA_ARCH__
    return x + 100;
#else
    return x;
#endif
  }
};
}  // namespace util
__host__ __device__ void say() { printf("%s\n", WHERE); }
__global__ void squares(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 700
  if (i < n) out[i] = i * i;
#endif
}
__global__ void others(int* out) {
  out[0] = util::pick(7);
  out[1] = util::S(5).get();
#ifdef __CUDA_ARCH__
  out[2] = __CUDA_ARCH__;
#endif
  say();
  out[3] = 50;
}
int main() {
  int* p;
  cudaMallocManaged(&p, 40);
  squares<<<1, 10>>>(p, 10);
  cudaDeviceSynchronize();
  printf("%d\n", p[3]);
  auto f = [=] __host__ __device__(int i) {
#ifdef __CUDA_ARCH__
    return i;
#else
    return -i;
#endif
  };
  others<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  printf("%d %d %d\n", p[0], p[1], p[3]);
  printf("%d %d %d\n", util::pick(7), util::S(5).get(), f(4));
  say();
  cudaDeviceProp q;
  cudaGetDeviceProperties(&q, 0);
  printf("%d\n", p[2] == 100 * q.major + 10 * q.minor);
}
