// SPDX-License-Identifier: MIT
// Replaces values by the mean of their neighbours, for many steps in one launch: all blocks wait
// for each other between two steps.
#include "grid_barrier.cuh"

#include <cstdio>
#include <utility>
#include <vector>

// After an even number of steps the result is in `from`. Both have n elements; the two at the ends
// keep their values.
__global__ void smooth(float* from, float* to, unsigned n, unsigned steps,
                       course::grid_barrier_words* barrier) {
  const unsigned first = 1 + blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned i = first; i + 1 < n; i += gridDim.x * blockDim.x) {
      to[i] = (from[i - 1] + from[i + 1]) / 2;
    }
    course::grid_barrier(barrier);
    float* const newest = to;
    to = from, from = newest;
  }
}

cudaError_t launch(float* from, float* to, unsigned n, unsigned steps,
                   course::grid_barrier_words* barrier, unsigned blocks, cudaStream_t stream) {
  void* arguments[] = {&from, &to, &n, &steps, &barrier};
  return cudaLaunchCooperativeKernel(smooth, dim3(blocks), dim3(256), arguments, 0, stream);
}

int main() {
  constexpr unsigned n = 20'000;
  constexpr unsigned steps = 20;
  int multiprocessors = 0;
  int blocks_each = 0;
  float* from = nullptr;
  float* to = nullptr;
  course::grid_barrier_words* barrier = nullptr;
  if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, smooth, 256, 0) != cudaSuccess ||
      cudaMallocManaged(&from, n * sizeof(float)) != cudaSuccess ||
      cudaMallocManaged(&to, n * sizeof(float)) != cudaSuccess ||
      cudaMallocManaged(&barrier, sizeof *barrier) != cudaSuccess) {
    std::printf("no device, or no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  std::vector<float> expected(n);
  for (unsigned i = 0; i < n; ++i) expected[i] = from[i] = to[i] = static_cast<float>(i * i % 1009);
  // As many blocks as are resident at the same time, and not more.
  const auto blocks = static_cast<unsigned>(multiprocessors * blocks_each);
  *barrier = {0, 0};  // Once: the second launch needs no reset.
  for (int number = 1; number <= 2; ++number) {
    cudaError_t status = launch(from, to, n, steps, barrier, blocks, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
      std::printf("the launch failed: %s\n", cudaGetErrorString(status));
      return 1;
    }
    for (unsigned step = 0; step < steps; ++step) {
      std::vector<float> next = expected;
      for (unsigned i = 1; i + 1 < n; ++i) next[i] = (expected[i - 1] + expected[i + 1]) / 2;
      expected = std::move(next);
    }
    unsigned right = 0;
    for (unsigned i = 0; i < n; ++i) right += from[i] == expected[i];
    std::printf("launch %d: %u of %u values are right\n", number, right, n);
    if (right != n) return 1;
  }
}
