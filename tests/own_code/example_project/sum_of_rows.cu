// SPDX-License-Identifier: MIT
// All three headers in one kernel: blocks take rows from a queue, add each up, and the block that
// is last adds up the sums of all rows.
#include <cstdio>
#include <inter_block_communication/block_reduce.cuh>
#include <inter_block_communication/last_block.cuh>
#include <inter_block_communication/work_queue.cuh>

#include "matrix_size.hpp"

namespace {

struct row {
  unsigned number;
  __host__ __device__ static row none() { return {rows}; }
  __host__ __device__ bool operator==(row other) const { return number == other.number; }
};

// Everything in managed memory.
struct problem {
  int matrix[rows * columns];
  row items[rows];
  course::work_queue_counters counters;
  int sums[rows];
  unsigned arrivals;
  int total;
};

__global__ void sum_of_rows(course::work_queue<row> queue, problem* all) {
  __shared__ int shared[course::largest_warp_count];
  for (row next = queue.fetch(); next != row::none(); next = queue.fetch()) {
    int sum = 0;
    for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) {
      sum += all->matrix[next.number * columns + i];
    }
    sum = course::block_reduce_shuffle(sum, course::plus{}, shared);
    if (threadIdx.x == 0) all->sums[next.number] = sum;
  }
  if (!course::last_block(&all->arrivals)) return;
  int sum = 0;
  for (unsigned i = threadIdx.x; i < rows; i += blockDim.x) sum += all->sums[i];
  sum = course::block_reduce_shuffle(sum, course::plus{}, shared);
  if (threadIdx.x == 0) all->total = sum;
}

}  // namespace

int main() {
  problem* all = nullptr;
  if (const cudaError_t status = cudaMallocManaged(&all, sizeof(problem)); status != cudaSuccess) {
    std::printf("no memory: %s\n", cudaGetErrorString(status));
    return 1;
  }
  for (unsigned i = 0; i < rows * columns; ++i) all->matrix[i] = static_cast<int>(i % 7);
  for (unsigned i = 0; i < rows; ++i) all->items[i] = {i};
  all->counters = {.size = rows, .next = 0};
  all->arrivals = 0;
  int expected = 0;
  for (const int value : all->matrix) expected += value;
  const course::work_queue<row> queue(all->items, rows, &all->counters);
  sum_of_rows<<<20, 128>>>(queue, all);
  if (const cudaError_t status = cudaDeviceSynchronize(); status != cudaSuccess) {
    std::printf("the launch failed: %s\n", cudaGetErrorString(status));
    return 1;
  }
  std::printf("%d, expected %d\n", all->total, expected);
  return all->total == expected ? 0 : 1;
}
