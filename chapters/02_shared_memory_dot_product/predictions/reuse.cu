// SPDX-License-Identifier: MIT
// Prediction 3: The same memory in every round
//
// Each block reverses 4 groups of 64 values, one after the other, by way of shared memory. The
// kernel is launched with 2 blocks of 64 threads.
//
// A common mistake (a): A barrier is needed only between a write and the read that comes after it.
#include "lab/variants.cuh"

namespace a {
// Race: missing __syncthreads()
// The barrier orders the writes of a round before its reads. Nothing orders these reads before the
// writes of the next round: a fast thread overwrites what a slow one has yet to read.
// See README.md#why-it-is-correct
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
// No race
// The first barrier says that all have written, and the second one that all have read. Then the
// next round may overwrite the values.
// See README.md#why-it-is-correct
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
// No race
// Two rounds in a row use different halves. Before a thread writes to a half again, it has passed
// the barrier of the round in between, and every thread comes there only after its reads from that
// half. So one barrier per round is enough.
// See README.md#why-it-is-correct
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
// Race: missing __syncthreads()
// The barrier stands after the reads. Between the writes of a round and its reads there is none,
// and two halves don't help.
// See README.md#why-it-is-correct
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
