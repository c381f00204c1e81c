// SPDX-License-Identifier: MIT
// Prediction 3: Whose index?
//
// Each element of x shall be added once to the same element of sums. The kernel is launched with 16
// blocks of 64 threads, of which some take over others.
//
// A common mistake (b): If the result is wrong, there must be a race.
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/variants.cuh"

using course::for_each_canceled_block;

namespace a {
// No race
// Each tile is done once, by the block that got it. So each element has one thread.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void add(const int* x, int* sums) {
  for_each_canceled_block<1>([=](dim3 tile) {
    const unsigned i = tile.x * blockDim.x + threadIdx.x;
    sums[i] += x[i];
  });
}
// END a
}  // namespace a

namespace b {
// No race
// blockIdx stays the calling block's own. A block that takes over another one adds its own elements
// again, and those of the other one are never added. The result is wrong, and yet no two threads
// touch the same element.
// See README.md#see-it-fail
// BEGIN b
__global__ void add(const int* x, int* sums) {
  for_each_canceled_block<1>([=](dim3) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] += x[i];
  });
}
// END b
}  // namespace b

namespace c {
// Race: missing atomic
// At rank 1, tile.y says nothing about the tile: it is 1 in a block's own tile, and 0 in each that
// was taken over. So all blocks add to the same 128 elements.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void add(const int* x, int* sums) {
  for_each_canceled_block<1>([=](dim3 tile) {
    const unsigned i = tile.y * blockDim.x + threadIdx.x;
    sums[i] += x[i];
  });
}
// END c
}  // namespace c

namespace d {
// No race
// Tile 0 takes the elements of tile 1, and tile 1 those of tile 0. That looks odd, but each tile is
// done once, so each element still has one thread.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void add(const int* x, int* sums) {
  for_each_canceled_block<1>([=](dim3 tile) {
    const unsigned i = (tile.x ^ 1) * blockDim.x + threadIdx.x;
    sums[i] += x[i];
  });
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::add, b::add, c::add, d::add}, [](auto add) {
    auto x = lab::zeroed<int>(16 * 64), sums = lab::zeroed<int>(16 * 64);
    add<<<16, 64>>>(x.data(), sums.data());
  });
}
