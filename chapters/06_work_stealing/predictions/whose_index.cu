// SPDX-License-Identifier: MIT
// A prediction, told in whose_index.json: whose index the work of a tile takes.
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/variants.cuh"

using course::for_each_canceled_block;

namespace a {
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
