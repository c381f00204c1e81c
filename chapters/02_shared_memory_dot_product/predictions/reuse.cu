// SPDX-License-Identifier: MIT
// A prediction, told in reuse.json: shared memory that is used again.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int tiles[2][64];
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned first = (4 * blockIdx.x + round) * 64;
    int* const tile = tiles[0];
    tile[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = tile[63 - threadIdx.x];
  }
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int tiles[2][64];
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned first = (4 * blockIdx.x + round) * 64;
    int* const tile = tiles[0];
    tile[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = tile[63 - threadIdx.x];
    __syncthreads();
  }
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int tiles[2][64];
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned first = (4 * blockIdx.x + round) * 64;
    int* const tile = tiles[round % 2];
    tile[threadIdx.x] = values[first + threadIdx.x];
    __syncthreads();
    reversed[first + threadIdx.x] = tile[63 - threadIdx.x];
  }
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void reverse(const int* values, int* reversed) {
  __shared__ int tiles[2][64];
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned first = (4 * blockIdx.x + round) * 64;
    int* const tile = tiles[round % 2];
    tile[threadIdx.x] = values[first + threadIdx.x];
    reversed[first + threadIdx.x] = tile[63 - threadIdx.x];
    __syncthreads();
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::reverse, b::reverse, c::reverse, d::reverse},
                          [](auto reverse) {
                            auto values = lab::zeroed<int>(512), reversed = lab::zeroed<int>(512);
                            reverse<<<2, 64>>>(values.data(), reversed.data());
                          });
}
