// SPDX-License-Identifier: MIT
// Doubles the elements of rows of very different lengths. Whichever block is free takes the next
// row.
#include "work_queue.cuh"

#include <cstddef>
#include <cstdio>

struct row {
  unsigned number;
  __host__ __device__ static row none() { return {0xffffffff}; }
  __host__ __device__ bool operator==(row other) const { return number == other.number; }
};

// Row r has the elements begin[r] to begin[r + 1] - 1 of `values`.
__global__ void double_rows(course::work_queue<row> queue, const unsigned* begin, int* values) {
  for (row next = queue.fetch(); next != row::none(); next = queue.fetch()) {
    const size_t end = begin[next.number + 1];
    for (size_t i = size_t{begin[next.number]} + threadIdx.x; i < end; i += blockDim.x) {
      values[i] *= 2;
    }
  }
}

cudaError_t launch(row* rows, unsigned count, course::work_queue_counters* counters,
                   const unsigned* begin, int* values, unsigned blocks, cudaStream_t stream) {
  const cudaError_t reset =  // No row is taken yet.
      cudaMemsetAsync(&counters->next, 0, sizeof(counters->next), stream);
  if (reset != cudaSuccess) return reset;
  const course::work_queue<row> queue(rows, count, counters);
  double_rows<<<blocks, 128, 0, stream>>>(queue, begin, values);
  return cudaGetLastError();
}

int main() {
  constexpr unsigned count = 200;
  constexpr unsigned elements = count * (count - 1) / 2;  // Row r has r elements.
  row* rows = nullptr;
  course::work_queue_counters* counters = nullptr;
  unsigned* begin = nullptr;
  int* values = nullptr;
  if (cudaMallocManaged(&rows, count * sizeof(row)) != cudaSuccess ||
      cudaMallocManaged(&counters, sizeof(*counters)) != cudaSuccess ||
      cudaMallocManaged(&begin, (count + 1) * sizeof(unsigned)) != cudaSuccess ||
      cudaMallocManaged(&values, elements * sizeof(int)) != cudaSuccess) {
    std::printf("no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  begin[0] = 0;
  for (unsigned r = 0; r < count; ++r) {
    rows[r] = {r};
    begin[r + 1] = begin[r] + r;
  }
  for (unsigned i = 0; i < elements; ++i) values[i] = static_cast<int>(i);
  *counters = {.size = count, .next = 0};
  cudaError_t status = cudaSuccess;
  for (int i = 0; i < 2 && status == cudaSuccess; ++i) {
    status = launch(rows, count, counters, begin, values, 16, nullptr);
  }
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::printf("a launch failed: %s\n", cudaGetErrorString(status));
    return 1;
  }
  for (unsigned i = 0; i < elements; ++i) {
    if (values[i] != 4 * static_cast<int>(i)) return 1;
  }
  std::printf("all %u rows were doubled once in each of two launches\n", count);
}
