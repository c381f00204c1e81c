// SPDX-License-Identifier: CC-BY-SA-4.0
#include <cstddef>

// Returns true in all threads of the block that gets here last, else false.
// TODO: three things are missing here or nearby.
__device__ bool is_last_block(unsigned* counter) {
  // BEGIN SOLUTION
  // STUB: __threadfence();
  // STUB: unsigned last = 0;
  // STUB: if (threadIdx.x == 0) last = atomicAdd(counter, 1);
  // STUB: return __syncthreads_or(last == gridDim.x - 1);
  bool last = false;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  return __syncthreads_or(last);
  // END SOLUTION
}

// A block adds up its share of the rows, one thread per column; the last block adds up the shares.
__global__ void add_rows(const int* matrix, unsigned rows, long long* partials, unsigned* counter,
                         long long* sums) {
  long long sum = 0;
  for (unsigned row = blockIdx.x; row < rows; row += gridDim.x) {
    sum += matrix[std::size_t{row} * blockDim.x + threadIdx.x];
  }
  partials[blockIdx.x * blockDim.x + threadIdx.x] = sum;

  if (is_last_block(counter)) {
    long long total = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
      total += partials[block * blockDim.x + threadIdx.x];
    }
    sums[threadIdx.x] = total;
  }
}

void sum_columns(const int* matrix, unsigned rows, long long* partials, unsigned* counter,
                 long long* sums, unsigned blocks, unsigned columns) {
  add_rows<<<blocks, columns>>>(matrix, rows, partials, counter, sums);
}
