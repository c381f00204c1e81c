// SPDX-License-Identifier: MIT
// A prediction, told in tile_number.json: which tile is mine.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void number(unsigned* counter, unsigned* tiles) {
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
  tiles[blockIdx.x * 64 + threadIdx.x] = tile;
}
// END a
}  // namespace a

namespace b {
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
