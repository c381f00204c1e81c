// SPDX-License-Identifier: MIT
// Prediction 1: Barriers in a tree
//
// Each block adds up its 64 values. The kernel is launched with 4 blocks of 64 threads.
//
// A common mistake (c): The 32 threads of a warp run in step, so among them no barrier is needed.
#include "lab/variants.cuh"

namespace a {
// No race
// The barrier stands between the writes of one step and the reads of the next one. After the last
// step no barrier is needed, because thread 0 reads what it has written itself.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void sum(const int* values, int* sums) {
  __shared__ int shared[64];
  const unsigned thread = threadIdx.x;
  shared[thread] = values[blockIdx.x * 64 + thread];
  for (unsigned half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) shared[thread] += shared[thread + half];
  }
  if (thread == 0) sums[blockIdx.x] = shared[0];
}
// END a
}  // namespace a

namespace b {
// Race: missing __syncthreads()
// There is a barrier after each step, but none before the first one. There, thread 0 reads
// shared[32], which thread 32 may not have written yet.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void sum(const int* values, int* sums) {
  __shared__ int shared[64];
  const unsigned thread = threadIdx.x;
  shared[thread] = values[blockIdx.x * 64 + thread];
  for (unsigned half = 32; half > 0; half /= 2) {
    if (thread < half) shared[thread] += shared[thread + half];
    __syncthreads();
  }
  if (thread == 0) sums[blockIdx.x] = shared[0];
}
// END b
}  // namespace b

namespace c {
// Race: missing __syncwarp()
// From half = 8 on, only threads of the first warp still work together. A warp often runs in step,
// and nothing guarantees it: each of these steps needs a __syncwarp() or a __syncthreads().
// See README.md#exercises
// BEGIN c
__global__ void sum(const int* values, int* sums) {
  __shared__ int shared[64];
  const unsigned thread = threadIdx.x;
  shared[thread] = values[blockIdx.x * 64 + thread];
  for (unsigned half = 32; half > 0; half /= 2) {
    if (half >= 16) __syncthreads();
    if (thread < half) shared[thread] += shared[thread + half];
  }
  if (thread == 0) sums[blockIdx.x] = shared[0];
}
// END c
}  // namespace c

namespace d {
// Race: missing __syncthreads()
// Thread 63 reads what thread 0 has written in the last step, and no barrier stands between the
// two. In a, thread 0 reads it itself.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void sum(const int* values, int* sums) {
  __shared__ int shared[64];
  const unsigned thread = threadIdx.x;
  shared[thread] = values[blockIdx.x * 64 + thread];
  for (unsigned half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) shared[thread] += shared[thread + half];
  }
  if (thread == 63) sums[blockIdx.x] = shared[0];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::sum, b::sum, c::sum, d::sum}, [](auto sum) {
    auto values = lab::zeroed<int>(256), sums = lab::zeroed<int>(4);
    sum<<<4, 64>>>(values.data(), sums.data());
  });
}
