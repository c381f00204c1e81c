// SPDX-License-Identifier: MIT
// A prediction, told in tiles.json: shared memory that all tiles of a block use.
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/variants.cuh"

using course::for_each_canceled_block;

namespace a {
// BEGIN a
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int shared[2][64];
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned first = tile.x * 64;
    int* const buffer = shared[0];
    buffer[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = buffer[63 - threadIdx.x];
  });
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int shared[2][64];
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned first = tile.x * 64;
    int* const buffer = shared[0];
    __syncthreads();
    buffer[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = buffer[63 - threadIdx.x];
  });
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int shared[2][64];
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned first = tile.x * 64;
    int* const buffer = shared[0];
    buffer[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = buffer[63 - threadIdx.x];
    __threadfence_block();
  });
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int shared[2][64];
  unsigned turn = 0;
  for_each_canceled_block<1>([&](dim3 tile) {
    const unsigned first = tile.x * 64;
    int* const buffer = shared[turn++ % 2];
    buffer[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = buffer[63 - threadIdx.x];
  });
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(
      argc, argv, {a::reverse, b::reverse, c::reverse, d::reverse}, [](auto reverse) {
        auto values = lab::zeroed<int>(16 * 64), reversed = lab::zeroed<int>(16 * 64);
        reverse<<<16, 64>>>(values.data(), reversed.data());
      });
}
