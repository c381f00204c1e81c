// SPDX-License-Identifier: MIT
// Cheat: reads what other blocks wrote as structures that a call takes by value, without a fence
// Exercise: 04.1
// Verdict: OK 3
// Says: Two threads race
#include <cstddef>

// Returns true in all threads of the block that gets here last, else false.
__device__ bool is_last_block(unsigned* counter) {
  bool last = false;
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  return __syncthreads_or(last);
}

struct pair {
  long long v[1];
};
__attribute__((noinline)) __device__ long long see(pair a) { return a.v[0]; }
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
      total += see(*(const pair*)(partials + (block * blockDim.x + threadIdx.x)));
      (void)*(const volatile long long*)(partials + (blockIdx.x * blockDim.x + threadIdx.x));
    }
    sums[threadIdx.x] = total;
  }
}

void sum_columns(const int* matrix, unsigned rows, long long* partials, unsigned* counter,
                 long long* sums, unsigned blocks, unsigned columns) {
  add_rows<<<blocks, columns>>>(matrix, rows, partials, counter, sums);
}
