// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. Blocks of a plain launch wait for each other,
// and there is one block more than the device runs at the same time.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include <chrono>
#include <cstdio>
#include <cstdlib>

constexpr int threads = 64;

// Every block counts itself, and waits until all are counted.
__global__ void meet(unsigned* arrived) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_acq_rel);
    while (count.load(cuda::memory_order_acquire) < gridDim.x) {
    }
  }
  __syncthreads();
}

// Waits for the device, at most for 3 seconds.
cudaError_t wait_a_while() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  cudaError_t status = cudaErrorNotReady;
  while (status == cudaErrorNotReady && std::chrono::steady_clock::now() < end) {
    status = cudaStreamQuery(nullptr);
  }
  return status;
}

int main() {
  int multiprocessors = 0;
  int blocks_each = 0;
  unsigned* arrived = nullptr;
  if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, meet, threads, 0) !=
          cudaSuccess ||
      cudaMalloc(&arrived, sizeof(unsigned)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  const int resident = multiprocessors * blocks_each;
  for (const int blocks : {resident, resident + 1}) {
    if (cudaMemset(arrived, 0, sizeof(unsigned)) != cudaSuccess) return 1;
    meet<<<blocks, threads>>>(arrived);
    if (cudaGetLastError() != cudaSuccess) {
      std::puts("the kernel failed");
      return 1;
    }
    const cudaError_t status = wait_a_while();
    std::printf("%d blocks, and %d can be resident: %s\n", blocks, resident,
                status == cudaSuccess         ? "all have met"
                : status == cudaErrorNotReady ? "after 3 s they still wait; this program gives up"
                                              : cudaGetErrorName(status));
    std::fflush(stdout);
    // Not exit(): it would wait for the kernel.
    if (status != cudaSuccess) std::_Exit(1);
  }
}
