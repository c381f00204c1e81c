// SPDX-License-Identifier: MIT
// Counts the values above a limit in one launch: the block that is last adds up the blocks' counts.
#include "last_block.cuh"

#include <cstdio>

// *total becomes how many of the n values are larger than `limit`. counts has gridDim.x elements.
__global__ void count_above(const float* values, unsigned n, float limit, unsigned* counts,
                            unsigned* counter, unsigned* total) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned count = __syncthreads_count(i < n && values[i] > limit);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
  if (course::last_block(counter) && threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += counts[block];
    *total = sum;
  }
}

cudaError_t launch(const float* values, unsigned n, float limit, unsigned* counts,
                   unsigned* counter, unsigned* total, cudaStream_t stream) {
  const unsigned blocks = n == 0 ? 1 : (n - 1) / 256 + 1;
  count_above<<<blocks, 256, 0, stream>>>(values, n, limit, counts, counter, total);
  return cudaGetLastError();
}

int main() {
  constexpr unsigned n = 100'000;
  constexpr unsigned blocks = (n + 255) / 256;
  float* values = nullptr;
  unsigned* memory = nullptr;  // The blocks' counts, the guard's counter, the total.
  if (cudaMallocManaged(&values, n * sizeof(float)) != cudaSuccess ||
      cudaMallocManaged(&memory, (blocks + 2) * sizeof(unsigned)) != cudaSuccess) {
    std::printf("no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (unsigned i = 0; i < n; ++i) values[i] = static_cast<float>(i % 100);
  unsigned* const counter = memory + blocks;
  unsigned* const total = memory + blocks + 1;
  *counter = 0;  // Once. The guard sets it to 0 again, so the second launch needs nothing.
  for (int i = 0; i < 2; ++i) {
    *total = 0;
    cudaError_t status = launch(values, n, 89.5F, memory, counter, total, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
      std::printf("the launch failed: %s\n", cudaGetErrorString(status));
      return 1;
    }
    std::printf("launch %d: %u of %u values are above the limit\n", i + 1, *total, n);
    if (*total != n / 10) return 1;
  }
}
