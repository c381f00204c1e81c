// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
template <class T>
struct SharedMemory {
  __device__ inline operator T*() {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
  __device__ inline operator const T*() const {
    extern __shared__ int __smem[];
    return (T*)__smem;
  }
};
template <>
struct SharedMemory<double> {
  __device__ inline operator double*() {
    extern __shared__ double __smem_d[];
    return (double*)__smem_d;
  }
};
template <class T>
class Vec {
  T* p;

 public:
  __host__ __device__ Vec(T* q) : p(q) {}
  __device__ T get(int i) const { return p[i]; }
  ~Vec() {}
};
template <class T>
__global__ void k(T* in, T* out, unsigned int n) {
  T* sdata = SharedMemory<T>();
  unsigned int tid = threadIdx.x;
  sdata[tid] = in[tid];
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    if ((tid % (2 * s)) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[0] = sdata[0];
}
template <typename T>
struct Op {
  static __device__ __forceinline__ T apply(T a, T b) { return a > b ? a : b; }
};
template <typename T, template <typename> class O>
__global__ void r(Vec<T> v, T* o, int n) {
  T a = v.get(0);
  for (int i = 1; i < n; i++) a = O<T>::apply(a, v.get(i));
  *o = a;
}
template __global__ void k<int>(int*, int*, unsigned int);
int main() {
  int* a;
  int* o;
  cudaMallocManaged(&a, 256);
  cudaMallocManaged(&o, 4);
  for (int i = 0; i < 64; i++) a[i] = i;
  k<int><<<1, 64, 256>>>(a, o, 64);
  cudaDeviceSynchronize();
  printf("%d\n", *o);
  r<int, Op><<<1, 1>>>(Vec<int>(a), o, 64);
  cudaDeviceSynchronize();
  printf("%d\n", *o);
  cudaFuncSetAttribute(k<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
}
