// SPDX-License-Identifier: MIT
// Adds up the rows of a matrix, a block for each row.
#include "block_reduce.cuh"

#include <cstddef>
#include <cstdio>

// sums[row] becomes the sum of the row, for gridDim.x rows.
__global__ void sum_rows(const int* matrix, unsigned columns, int* sums) {
  __shared__ int shared[course::largest_warp_count];
  const int* const row = matrix + size_t{blockIdx.x} * columns;
  int sum = 0;
  for (size_t i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
  sum = course::block_reduce_shuffle(sum, course::plus{}, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

cudaError_t launch(const int* matrix, unsigned rows, unsigned columns, int* sums,
                   cudaStream_t stream) {
  sum_rows<<<rows, 256, 0, stream>>>(matrix, columns, sums);
  return cudaGetLastError();
}

int main() {
  constexpr unsigned rows = 50;
  constexpr unsigned columns = 1000;
  int* matrix = nullptr;
  int* sums = nullptr;
  if (cudaMallocManaged(&matrix, rows * columns * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&sums, rows * sizeof(int)) != cudaSuccess) {
    std::printf("no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  for (unsigned i = 0; i < rows * columns; ++i) matrix[i] = static_cast<int>(i / columns);
  cudaError_t status = launch(matrix, rows, columns, sums, nullptr);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::printf("the launch failed: %s\n", cudaGetErrorString(status));
    return 1;
  }
  for (unsigned row = 0; row < rows; ++row) {
    if (sums[row] != static_cast<int>(row * columns)) return 1;
  }
  std::printf("the sums of %u rows are right\n", rows);
}
