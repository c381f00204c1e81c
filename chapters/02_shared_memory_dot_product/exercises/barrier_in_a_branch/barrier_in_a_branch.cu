// SPDX-License-Identifier: MIT
#include <cstddef>

// Reverses each tile of blockDim.x values; the last tile may be shorter.
__global__ void reverse_tiles(const int* values, std::size_t n, int* reversed) {
  // TODO: one barrier stands where some threads of the block never come.
  extern __shared__ int tile[];  // an element for each thread
  const unsigned thread = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n; first += stride) {
    const std::size_t left = n - first;
    const unsigned length = left < blockDim.x ? static_cast<unsigned>(left) : blockDim.x;
    // BEGIN SOLUTION
    // STUB: if (thread < length) {
    // STUB:   tile[thread] = values[first + thread];
    // STUB:   __syncthreads();  // the whole tile is there
    // STUB:   reversed[first + thread] = tile[length - 1 - thread];
    // STUB: }
    if (thread < length) tile[thread] = values[first + thread];
    __syncthreads();
    if (thread < length) reversed[first + thread] = tile[length - 1 - thread];
    // END SOLUTION
    __syncthreads();  // the tile is no longer needed
  }
}

// Launches the kernel, with `threads` values per tile.
void barrier_in_a_branch(const int* values, std::size_t n, int* reversed, unsigned blocks,
                         unsigned threads) {
  reverse_tiles<<<blocks, threads, threads * sizeof(int)>>>(values, n, reversed);
}
