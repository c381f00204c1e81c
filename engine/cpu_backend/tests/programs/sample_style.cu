// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>
#include <driver_functions.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include "device_launch_parameters.h"
#ifdef __DRIVER_TYPES_H__
static const char* _enum(cudaError_t e) { return cudaGetErrorName(e); }
#else
#error no driver types
#endif
#ifndef __CUDA_RUNTIME_H__
#error no runtime
#endif
#ifndef MIN
#define MIN(a, b) ((a < b) ? a : b)
#endif
#ifndef __CUDACC__
#error nvcc
#endif
#if __CUDACC_VER_MAJOR__ < 9
#error old
#endif
template <typename T>
void check(T result, char const* const func, const char* const file, int const line) {
  if (result) {
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line,
            static_cast<unsigned int>(result), _enum(result), func);
    exit(EXIT_FAILURE);
  }
}
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
inline int _ConvertSMVer2Cores(int major, int minor) {
  typedef struct {
    int SM;
    int Cores;
  } s;
  s t[] = {{0x90, 128}, {0xa0, 128}, {-1, -1}};
  int i = 0;
  while (t[i].SM != -1) {
    if (t[i].SM == ((major << 4) + minor)) return t[i].Cores;
    i++;
  }
  return 64;
}
inline int gpuGetMaxGflopsDeviceId() {
  int current_device = 0, device_count = 0, best = 0, prohibited = 0;
  checkCudaErrors(cudaGetDeviceCount(&device_count));
  while (current_device < device_count) {
    int computeMode = -1, major = 0, minor = 0, mp, clock;
    checkCudaErrors(cudaDeviceGetAttribute(&computeMode, cudaDevAttrComputeMode, current_device));
    checkCudaErrors(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current_device));
    checkCudaErrors(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, current_device));
    if (computeMode != cudaComputeModeProhibited) {
      checkCudaErrors(cudaDeviceGetAttribute(&mp, cudaDevAttrMultiProcessorCount, current_device));
      cudaError_t r = cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, current_device);
      if (r != cudaSuccess) clock = 1;
      best = mp * _ConvertSMVer2Cores(major, minor) * clock ? current_device : best;
    } else
      prohibited++;
    ++current_device;
  }
  return best;
}
__global__ void timedReduction(const float* input, float* output, clock_t* timer) {
  extern __shared__ float shared[];
  const int tid = threadIdx.x;
  const int bid = blockIdx.x;
  if (tid == 0) timer[bid] = clock();
  shared[tid] = input[tid];
  shared[tid + blockDim.x] = input[tid + blockDim.x];
  for (int d = blockDim.x; d > 0; d /= 2) {
    __syncthreads();
    if (tid < d) {
      float f0 = shared[tid];
      float f1 = shared[tid + d];
      if (f1 < f0) shared[tid] = f1;
    }
  }
  if (tid == 0) output[bid] = shared[0];
  __syncthreads();
  if (tid == 0) timer[bid + gridDim.x] = clock();
}
__global__ void clock_block(clock_t* d_o, clock_t clock_count) {
  clock_t start_clock = clock();
  clock_t clock_offset = 0;
  while (clock_offset < clock_count) {
    clock_offset = clock() - start_clock;
  }
  d_o[0] = clock_offset;
}
__global__ void kernel_increment(int* g_data, int inc_value) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  g_data[idx] = g_data[idx] + inc_value;
}
double cpuSecond() {
  struct timeval tp;
  gettimeofday(&tp, NULL);
  return ((double)tp.tv_sec + (double)tp.tv_usec * 1.e-6);
}
int main(int argc, char* argv[]) {
  int dev = gpuGetMaxGflopsDeviceId();
  checkCudaErrors(cudaSetDevice(dev));
  cudaDeviceProp deviceProps;
  checkCudaErrors(cudaGetDeviceProperties(&deviceProps, dev));
  printf("CUDA device of warps of %d\n", deviceProps.warpSize);
  double t = cpuSecond();
  clock_t *timer, ht[16];
  float *in, *out;
  cudaMalloc((void**)&timer, sizeof(clock_t) * 16);
  cudaMalloc((void**)&in, 512 * 4);
  cudaMalloc((void**)&out, 8 * 4);
  cudaMemset(in, 0, 2048);
  timedReduction<<<8, 256, sizeof(float) * 2 * 256>>>(in, out, timer);
  checkCudaErrors(cudaMemcpy(ht, timer, sizeof ht, cudaMemcpyDeviceToHost));
  printf("%d\n", ht[8] >= ht[0]);
  clock_block<<<1, 1>>>(timer, 1000);
  int* g;
  checkCudaErrors(cudaMalloc((void**)&g, 4096));
  checkCudaErrors(cudaMemset(g, 255, 4096));
  dim3 threads = dim3(512, 1);
  dim3 blocks = dim3(1024 / threads.x, 1);
  kernel_increment<<<blocks, threads, 0, 0>>>(g, 26);
  int h[2];
  checkCudaErrors(cudaMemcpyAsync(h, g, 8, cudaMemcpyDeviceToHost, 0));
  checkCudaErrors(cudaDeviceSynchronize());
  printf("%d %d\n", h[1], cpuSecond() >= t);
  exit(EXIT_SUCCESS);
}
