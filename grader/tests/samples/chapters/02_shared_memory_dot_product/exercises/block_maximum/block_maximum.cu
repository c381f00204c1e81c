// SPDX-License-Identifier: MIT
#include <climits>
#include <cstddef>

// Leaves the largest of each block's values in `maxima`, which has an element for each block.
// Thread t of block b has value b * blockDim.x + t, if that is less than n.
__global__ void find_maxima(const int* values, std::size_t n, int* maxima) {
  extern __shared__ int largest[];  // an element for each thread
  // BEGIN SOLUTION
  // STUB: // TODO: put the thread's value into `largest`, and halve the number of values, step by
  // STUB: // step, until element 0 has the largest of all. Let one thread write it to `maxima`.
  const unsigned thread = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + thread;
  largest[thread] = i < n ? values[i] : INT_MIN;
  __syncthreads();
  for (unsigned live = blockDim.x; live > 1;) {
    const unsigned half = (live + 1) / 2;
    if (thread < live - half && largest[thread + half] > largest[thread]) {
      largest[thread] = largest[thread + half];
    }
    __syncthreads();
    live = half;
  }
  if (thread == 0) maxima[blockIdx.x] = largest[0];
  // END SOLUTION
}

// Launches the kernel in blocks of so many threads, from 1 to 1,024. n is at least 1.
void block_maximum(const int* values, std::size_t n, int* maxima, unsigned threads) {
  const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
  find_maxima<<<blocks, threads, threads * sizeof(int)>>>(values, n, maxima);
}
