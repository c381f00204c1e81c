// SPDX-License-Identifier: MIT
// Prediction 1: From tile to tile
//
// Each tile of 64 values is reversed by way of shared memory. The kernel is launched with 16 blocks
// of 64 threads, of which some take over others.
//
// A common mistake (ac): A block that takes over another one is synchronised by that.
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/variants.cuh"

using course::for_each_canceled_block;

namespace a {
// Race: missing __syncthreads()
// A cancel synchronises no memory. A fast thread begins the next tile and overwrites the value that
// a slow thread still has to read.
// See README.md#why-it-is-correct
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
// No race
// All threads meet before a tile is written, so all have read the last one. The second barrier
// makes sure that all have written.
// See README.md#why-it-is-correct
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
// Race: missing __syncthreads()
// A fence makes no thread wait. The others may still be reading the last tile.
// See README.md#why-it-is-correct
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
// No race
// Two tiles in a row use different buffers. Before a thread writes to a buffer again, it has passed
// the barrier of the tile in between, and every thread comes there only after its reads from that
// buffer.
// See README.md#why-it-is-correct
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
