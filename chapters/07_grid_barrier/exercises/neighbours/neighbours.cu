// SPDX-License-Identifier: MIT
#include <cuda/atomic>

// BEGIN SOLUTION
// Returns when the block whose word this is has done `steps` steps or more. It may be one further:
// it needs this block's last step, and no later one, for its next.
__device__ void wait_for(unsigned& word, unsigned steps) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> done(word);
  while (done.load(cuda::memory_order_acquire) < steps) {
  }
}

// END SOLUTION
// The first cell of a block. The grid has at most n blocks, so each of them has a cell.
__device__ unsigned first_cell(unsigned block, unsigned n) {
  return static_cast<unsigned>(static_cast<unsigned long long>(n) * block / gridDim.x);
}

// In each step every cell takes up its left neighbour; the first cell has none. After an even
// number of steps the result is in `from`. done[block] is how many steps that block has done.
__global__ void drift_steps(unsigned* from, unsigned* to, unsigned n, unsigned steps,
                            unsigned* done) {
  const unsigned first = first_cell(blockIdx.x, n);
  const unsigned end = first_cell(blockIdx.x + 1, n);
  for (unsigned step = 0; step < steps; ++step) {
    // BEGIN SOLUTION
    // STUB: // TODO: which blocks must have done which step, before this block may begin this one?
    if (threadIdx.x == 0) {
      // The left block has written what is read here. The right one has read what is overwritten.
      if (blockIdx.x > 0) wait_for(done[blockIdx.x - 1], step);
      if (blockIdx.x + 1 < gridDim.x) wait_for(done[blockIdx.x + 1], step);
    }
    __syncthreads();
    // END SOLUTION
    for (unsigned i = first + threadIdx.x; i < end; i += blockDim.x) {
      to[i] = 3 * from[i] + (i > 0 ? from[i - 1] : 0);
    }
    // BEGIN SOLUTION
    // STUB: // TODO: when may this block say that it has done the step, and how do others learn it?
    __syncthreads();
    if (threadIdx.x == 0) {
      const cuda::atomic_ref<unsigned, cuda::thread_scope_device> mine(done[blockIdx.x]);
      mine.store(step + 1, cuda::memory_order_release);
    }
    // END SOLUTION
    unsigned* const newest = to;
    to = from;
    from = newest;
  }
}

void drift(unsigned* from, unsigned* to, unsigned n, unsigned steps, unsigned* done,
           unsigned blocks, unsigned threads) {
  if (n == 0) return;
  // All blocks have to be resident: at most as many as fit.
  int multiprocessors = 0;
  int blocks_each = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, drift_steps, threads, 0);
  const unsigned resident = multiprocessors * blocks_each;
  void* arguments[] = {&from, &to, &n, &steps, &done};
  cudaLaunchCooperativeKernel(drift_steps, dim3(min(min(blocks, resident), n)), dim3(threads),
                              arguments);
}
