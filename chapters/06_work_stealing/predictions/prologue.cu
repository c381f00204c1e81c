// SPDX-License-Identifier: MIT
// A prediction, told in prologue.json: the barriers after the prologue and before the epilogue.
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/variants.cuh"

using course::for_each_canceled_block;

namespace a {
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
