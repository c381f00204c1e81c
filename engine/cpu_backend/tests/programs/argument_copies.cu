// SPDX-License-Identifier: MIT
#include <cstdio>
int copies = 0, destroyed = 0;
struct Lock {
  int* mutex;
  int local = 0;
  Lock() {
    int zero = 0;
    cudaMalloc((void**)&mutex, sizeof(int));
    cudaMemcpy(mutex, &zero, sizeof zero, cudaMemcpyHostToDevice);
  }
  Lock(const Lock& o) : mutex(o.mutex) { ++copies; }
  ~Lock() { ++destroyed; }
  __device__ void lock() {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ void unlock() {
    __threadfence();
    atomicExch(mutex, 0);
  }
};
__global__ void count(Lock lock, int* total) {
  if (threadIdx.x == 0) {
    lock.lock();
    *total += 1;
    lock.unlock();
  }
  lock.local += 1;
  if (lock.local != 1) *total = -1000;
}
template <class T>
__global__ void countt(Lock lock, T* total) {
  if (threadIdx.x == 0) {
    lock.lock();
    *total += 1;
    lock.unlock();
  }
  lock.local += 1;
  if (lock.local != 1) *total = -1000;
}
int main() {
  int* t;
  cudaMallocManaged(&t, 4);
  *t = 0;
  {
    Lock l;
    count<<<32, 64>>>(l, t);
    cudaDeviceSynchronize();
    printf("%d copies %d destroyed %d\n", *t, copies, destroyed);
    countt<<<32, 64>>>(l, t);
    cudaDeviceSynchronize();
    printf("%d copies %d destroyed %d\n", *t, copies, destroyed);
    countt<int><<<32, 64>>>(l, t);
    cudaDeviceSynchronize();
    printf("%d copies %d destroyed %d\n", *t, copies, destroyed);
    void* a[] = {&l, &t};
    cudaLaunchKernel((const void*)count, 32, 64, a, 0, 0);
    cudaDeviceSynchronize();
  }
  printf("%d copies %d destroyed %d\n", *t, copies, destroyed);
}
