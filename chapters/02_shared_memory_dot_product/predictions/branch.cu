// SPDX-License-Identifier: MIT
// Prediction 4: A barrier in a branch
//
// In each block, the first 32 threads write to shared memory, and the other 32 read what they
// wrote. The kernel is launched with 2 blocks of 64 threads.
//
// A common mistake (ad): A barrier in a branch is always wrong.
#include "lab/variants.cuh"

namespace a {
// No race
// A barrier may be in a branch if all threads of a block decide alike. gridDim.x is 2 for every
// thread of the grid, so all come to it.
// See ../../docs/memory-model.md#barriers
// BEGIN a
__global__ void move_up(const int* values, int* moved) {
  __shared__ int tile[32];
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 32) tile[threadIdx.x] = values[i];
  if (gridDim.x == 2) __syncthreads();
  if (threadIdx.x >= 32) moved[i] = tile[threadIdx.x - 32];
}
// END a
}  // namespace a

namespace b {
// Race: missing __syncthreads()
// Only the threads that write wait, and only for one another. The other warp does not wait: it may
// read first. With __syncthreads() instead, which the threads of one block must reach together or
// not at all, the kernel might hang.
// See ../../docs/memory-model.md#barriers
// BEGIN b
__global__ void move_up(const int* values, int* moved) {
  __shared__ int tile[32];
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 32) tile[threadIdx.x] = values[i];
  if (threadIdx.x < 32) __syncwarp();
  if (threadIdx.x >= 32) moved[i] = tile[threadIdx.x - 32];
}
// END b
}  // namespace b

namespace c {
// Race: missing __syncthreads()
// All threads of a block decide alike, so nothing hangs. But block 1 goes past its barrier, and
// there the reads have no order with the writes.
// See ../../docs/memory-model.md#barriers
// BEGIN c
__global__ void move_up(const int* values, int* moved) {
  __shared__ int tile[32];
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 32) tile[threadIdx.x] = values[i];
  if (blockIdx.x == 0) __syncthreads();
  if (threadIdx.x >= 32) moved[i] = tile[threadIdx.x - 32];
}
// END c
}  // namespace c

namespace d {
// No race
// The branches end before the barrier, and every thread of the block comes to it: first those that
// write, then those that read.
// See ../../docs/memory-model.md#barriers
// BEGIN d
__global__ void move_up(const int* values, int* moved) {
  __shared__ int tile[32];
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 32) tile[threadIdx.x] = values[i];
  __syncthreads();
  if (threadIdx.x >= 32) moved[i] = tile[threadIdx.x - 32];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::move_up, b::move_up, c::move_up, d::move_up},
                          [](auto move_up) {
                            auto values = lab::zeroed<int>(128), moved = lab::zeroed<int>(128);
                            move_up<<<2, 64>>>(values.data(), moved.data());
                          });
}
