// SPDX-License-Identifier: MIT
// Prediction 2: Which tile is mine?
//
// 4 blocks of 64 threads number their tiles by an atomic counter, and each thread writes down its
// number.
//
// A common mistake (a): A number out of an atomic needs no further synchronisation inside of the
// block.
#include "lab/variants.cuh"

namespace a {
// Race: missing __syncthreads()
// Thread 0 writes the number into shared memory, and nothing makes the others wait for it.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void number(unsigned* counter, unsigned* tiles) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
  tiles[blockIdx.x * 64 + threadIdx.x] = tile;
}
// END a
}  // namespace a

namespace b {
// No race
// Each warp takes a number, and the shuffle hands it over in registers. No memory is shared.
// See fast.md#one-warp-looks-back
// BEGIN b
__global__ void number(unsigned* counter, unsigned* tiles) {
  unsigned tile = 0;
  if (threadIdx.x % 32 == 0) tile = atomicAdd(counter, 1);
  tile = __shfl_sync(0xffffffff, tile, 0);
  tiles[blockIdx.x * 64 + threadIdx.x] = tile;
}
// END b
}  // namespace b

namespace c {
// No race
// The barrier comes between thread 0's write and the reads of all threads.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void number(unsigned* counter, unsigned* tiles) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
  __syncthreads();
  tiles[blockIdx.x * 64 + threadIdx.x] = tile;
}
// END c
}  // namespace c

namespace d {
// Race: missing __syncthreads()
// In the second round thread 0 overwrites the number, while others may still have to read the first
// one.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void number(unsigned* counter, unsigned* tiles) {
  __shared__ unsigned tile;
  for (unsigned k = 0; k < 2; ++k) {
    if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
    __syncthreads();
    tiles[blockIdx.x * 64 + threadIdx.x] = tile;
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  const auto kernels = {a::number, b::number, c::number, d::number};
  return lab::run_variant(argc, argv, kernels, [](auto number) {
    auto counter = lab::zeroed<unsigned>(1), tiles = lab::zeroed<unsigned>(4 * 64);
    number<<<4, 64>>>(counter.data(), tiles.data());
  });
}
