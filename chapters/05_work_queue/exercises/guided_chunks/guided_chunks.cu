// SPDX-License-Identifier: MIT
#include <cuda/atomic>

// The blocks take chunks of the items until none is left. values[i] becomes 3 * values[i] + 1, and
// first_of[i] the first item of the chunk that item i was in. `next` is the counter.
__global__ void work_in_chunks(int* values, unsigned* first_of, unsigned items, unsigned* next) {
  // BEGIN SOLUTION
  // STUB: // TODO: take chunks until all items are taken; the fewer are left, the smaller.
  __shared__ unsigned shared_first, shared_size;
  for (;;) {
    if (threadIdx.x == 0) {
      const cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*next);
      unsigned first = counter.load(cuda::memory_order_relaxed);
      unsigned size = 0;
      do {
        const unsigned left = items - first;
        size = left / (2 * gridDim.x);
        if (size == 0 && left > 0) size = 1;
      } while (!counter.compare_exchange_weak(first, first + size, cuda::memory_order_relaxed));
      shared_first = first;
      shared_size = size;
    }
    __syncthreads();
    const unsigned first = shared_first;
    const unsigned size = shared_size;
    __syncthreads();
    if (size == 0) return;
    for (unsigned i = first + threadIdx.x; i < first + size; i += blockDim.x) {
      values[i] = 3 * values[i] + 1;
      first_of[i] = first;
    }
  }
  // END SOLUTION
}

void guided_chunks(int* values, unsigned* first_of, unsigned items, unsigned* next, unsigned blocks,
                   unsigned threads) {
  cudaMemsetAsync(next, 0, sizeof(unsigned));
  work_in_chunks<<<blocks, threads>>>(values, first_of, items, next);
}
