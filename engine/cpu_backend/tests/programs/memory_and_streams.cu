// SPDX-License-Identifier: MIT
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void scale(float* p, size_t pitch, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    float* row = (float*)((char*)p + y * pitch);
    row[x] *= 2;
  }
}
void CUDART_CB cb(cudaStream_t s, cudaError_t st, void* d) { *(int*)d = 5; }
void CUDART_CB hf(void* d) { *(int*)d += 5; }
int main() {
  float* p;
  size_t pitch;
  cudaMallocPitch((void**)&p, &pitch, 100 * 4, 50);
  std::vector<float> h(5000, 1.f);
  cudaMemcpy2D(p, pitch, h.data(), 400, 400, 50, cudaMemcpyHostToDevice);
  dim3 b(16, 16), g((100 + b.x - 1) / b.x, (50 + b.y - 1) / b.y);
  scale<<<g, b>>>(p, pitch, 100, 50);
  cudaMemcpy2D(h.data(), 400, p, pitch, 400, 50, cudaMemcpyDeviceToHost);
  printf("%g %g\n", h[0], h[4999]);
  cudaStream_t s[2];
  int lo, hi;
  cudaDeviceGetStreamPriorityRange(&lo, &hi);
  cudaStreamCreateWithPriority(&s[0], cudaStreamNonBlocking, hi);
  cudaStreamCreate(&s[1]);
  float *pin, *pin2;
  cudaMallocHost((void**)&pin, 4096);
  cudaHostAlloc((void**)&pin2, 4096, cudaHostAllocMapped | cudaHostAllocPortable);
  float* dp;
  cudaHostGetDevicePointer((void**)&dp, pin2, 0);
  for (int i = 0; i < 1024; i++) pin[i] = pin2[i] = i;
  scale<<<dim3(64), dim3(16), 0, s[0]>>>(dp, 4096, 1024, 1);
  cudaStreamSynchronize(s[0]);
  printf("%g\n", pin2[10]);
  int x = 0;
  cudaStreamAddCallback(s[1], cb, &x, 0);
  cudaLaunchHostFunc(s[1], hf, &x);
  cudaStreamSynchronize(s[1]);
  printf("%d\n", x);
  float* reg = (float*)malloc(8192);
  cudaHostRegister(reg, 8192, cudaHostRegisterDefault);
  cudaHostUnregister(reg);
  free(reg);
  float* m;
  cudaMallocManaged(&m, 4096);
  cudaMemsetAsync(m, 0, 4096, s[0]);
  cudaPointerAttributes at;
  cudaPointerGetAttributes(&at, m);
  printf("%d\n", at.type == cudaMemoryTypeManaged);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  cudaEventRecord(e, s[0]);
  cudaStreamWaitEvent(s[1], e, 0);
  while (cudaEventQuery(e) == cudaErrorNotReady)
    ;
  printf("%d\n", cudaStreamQuery(s[0]));
  float* as;
  cudaMallocAsync((void**)&as, 100, s[0]);
  cudaFreeAsync(as, s[0]);
  cudaFreeHost(pin);
  cudaFreeHost(pin2);
  cudaStreamDestroy(s[0]);
  cudaStreamDestroy(s[1]);
  cudaEventDestroy(e);
  int can;
  cudaDeviceCanAccessPeer(&can, 0, 0);
  int cnt;
  cudaGetDeviceCount(&cnt);
  for (int i = 0; i < cnt; i++) {
    int v;
    cudaDeviceGetAttribute(&v, cudaDevAttrClockRate, i);
    cudaDeviceGetAttribute(&v, cudaDevAttrComputeMode, i);
  }
  char id[20];
  cudaDeviceGetPCIBusId(id, 20, 0);
  cudaProfilerStart();
  cudaProfilerStop();
  size_t lim;
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
  cudaDeviceGetLimit(&lim, cudaLimitStackSize);
}
