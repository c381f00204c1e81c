// SPDX-License-Identifier: MIT
#include <cuda/atomic>

// The next row for the calling block: the same number for all of its threads, and no other block
// gets it. The number of rows or more if none is left. All threads of the block call it, and may
// call it again at once.
__device__ unsigned fetch(unsigned* next) {
  // BEGIN SOLUTION
  // STUB: // TODO: one thread takes the next number from `next`, and all threads return it.
  // STUB: return 0xffffffffU;  // No block ever gets a row.
  __shared__ unsigned fetched;
  if (threadIdx.x == 0) {
    const cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*next);
    fetched = counter.fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  const unsigned number = fetched;
  __syncthreads();
  return number;
  // END SOLUTION
}

// Multiplies the values of each row by the row's factor. Row r is values[begin[r]] and those after
// it, up to values[begin[r + 1]] exclusive.
__global__ void scale_each_row(int* values, const unsigned* begin, const int* factors,
                               unsigned rows, unsigned* next) {
  for (unsigned row = fetch(next); row < rows; row = fetch(next)) {
    for (unsigned i = begin[row] + threadIdx.x; i < begin[row + 1]; i += blockDim.x) {
      values[i] *= factors[row];
    }
  }
}

void scale_rows(int* values, const unsigned* begin, const int* factors, unsigned rows,
                unsigned* next, unsigned blocks, unsigned threads) {
  // BEGIN SOLUTION
  // STUB: // TODO: *next is 0 before the first call only.
  cudaMemsetAsync(next, 0, sizeof(unsigned));
  // END SOLUTION
  scale_each_row<<<blocks, threads>>>(values, begin, factors, rows, next);
}
