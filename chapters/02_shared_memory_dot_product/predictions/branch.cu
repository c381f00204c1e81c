// SPDX-License-Identifier: MIT
// A prediction, told in branch.json: a barrier inside a branch.
#include "lab/variants.cuh"

namespace a {
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
