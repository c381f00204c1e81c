// SPDX-License-Identifier: MIT
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/block_scan.cuh"
#include "08_look_back_scan/look_back.cuh"

// The values that are at least `least` go to `kept`, in their order, and their number to *count. A
// tile has as many elements as a block has threads.
__global__ void move_large(const unsigned* values, unsigned n, unsigned least, unsigned* kept,
                           unsigned* count, course::look_back<unsigned> earlier_tiles) {
  __shared__ unsigned shared[course::largest_block];
  __shared__ unsigned start;  // Where the tile's first value goes.
  // BEGIN SOLUTION
  // STUB: // TODO: which tile is this?
  // STUB: (void)earlier_tiles;
  // STUB: const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const course::tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  const unsigned i = mine.tile * blockDim.x + threadIdx.x;
  // END SOLUTION
  const unsigned value = i < n ? values[i] : 0;
  const bool is_large = i < n && value >= least;
  // How many there are in this tile, up to this thread's.
  const unsigned so_far = course::block_scan(is_large ? 1U : 0U, course::plus{}, shared);
  if (threadIdx.x == blockDim.x - 1) {
    // BEGIN SOLUTION
    // STUB: // TODO: this is right if there is one tile.
    // STUB: start = 0;
    // STUB: *count = so_far;
    start = 0;
    earlier_tiles.exclusive_prefix_by_one_thread(mine, so_far, course::plus{}, &start);
    if (mine.tile == gridDim.x - 1) *count = start + so_far;
    // END SOLUTION
  }
  __syncthreads();
  if (is_large) kept[start + so_far - 1] = value;
}

void keep_large(const unsigned* values, unsigned n, unsigned least, unsigned* kept, unsigned* count,
                unsigned long long* memory, unsigned threads) {
  const unsigned tiles = n / threads + (n % threads == 0 ? 0 : 1);
  // BEGIN SOLUTION
  // STUB: // TODO: n may be 0.
  if (n == 0) {
    cudaMemsetAsync(count, 0, sizeof(unsigned));
    return;
  }
  // END SOLUTION
  const course::look_back<unsigned> earlier_tiles(memory, n);
  move_large<<<tiles, threads>>>(values, n, least, kept, count, earlier_tiles);
}
