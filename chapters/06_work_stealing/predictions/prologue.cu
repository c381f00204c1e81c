// SPDX-License-Identifier: MIT
// Prediction 2: Before the first tile, and after the last
//
// Each block counts the elements that it has added. The kernel is launched with 16 blocks of 64
// threads, of which some take over others, and all elements of added are 0 before.
//
// A common mistake (c): An atomic of block scope must not be used in global memory.
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/variants.cuh"

using course::for_each_canceled_block;

namespace a {
// No race
// The first barrier puts the 0 before all additions, and the second one puts all additions before
// the read. Block scope is wide enough, because shared memory belongs to one block.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void add(const int* x, int* sums, unsigned* added) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned i = tile.x * blockDim.x + threadIdx.x;
    sums[i] += x[i];
    atomicAdd_block(&count, 1U);
  });
  __syncthreads();
  if (threadIdx.x == 0) added[blockIdx.x] = count;
}
// END a
}  // namespace a

namespace b {
// Race: plain mixed with atomic
// Thread 0 reads the counter plainly, while other threads of its block may still be adding to it.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void add(const int* x, int* sums, unsigned* added) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned i = tile.x * blockDim.x + threadIdx.x;
    sums[i] += x[i];
    atomicAdd_block(&count, 1U);
  });
  if (threadIdx.x == 0) added[blockIdx.x] = count;
}
// END b
}  // namespace b

namespace c {
// No race
// Only threads of one block ever touch added[blockIdx.x], whichever tiles they work on. So block
// scope is enough in global memory as well, and atomics need no barrier.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void add(const int* x, int* sums, unsigned* added) {
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned i = tile.x * blockDim.x + threadIdx.x;
    sums[i] += x[i];
    atomicAdd_block(&added[blockIdx.x], 1U);
  });
}
// END c
}  // namespace c

namespace d {
// Race: plain mixed with atomic
// Thread 0 sets the counter to 0 plainly, while other threads of its block may already be adding to
// it.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void add(const int* x, int* sums, unsigned* added) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned i = tile.x * blockDim.x + threadIdx.x;
    sums[i] += x[i];
    atomicAdd_block(&count, 1U);
  });
  __syncthreads();
  if (threadIdx.x == 0) added[blockIdx.x] = count;
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::add, b::add, c::add, d::add}, [](auto add) {
    auto x = lab::zeroed<int>(16 * 64), sums = lab::zeroed<int>(16 * 64);
    auto added = lab::zeroed<unsigned>(16);
    add<<<16, 64>>>(x.data(), sums.data(), added.data());
  });
}
