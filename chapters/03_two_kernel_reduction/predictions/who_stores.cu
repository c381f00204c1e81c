// SPDX-License-Identifier: MIT
// Prediction 2: Who stores the sum?
//
// The kernel is launched with 4 blocks of 64 threads. Before it, all elements of sums are 0. After
// it, sums[0] to sums[3] hold one partial sum each (a, b), or sums[0] holds the sum of all (c, d).
// atomicAdd() adds in one step that no other thread can interrupt.
//
// A common mistake (d): If only one thread per block writes, there is no race.
#include "lab/variants.cuh"

namespace a {
// No race
// Each block has its own place, and one of its threads writes there.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void sum(const int* values, int* sums) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, values[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
// END a
}  // namespace a

namespace b {
// Race: no synchronisation
// All 64 threads of a block store the same value in the same place. The result is right, and it is
// a race: nothing orders the 64 writes.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void sum(const int* values, int* sums) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, values[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  sums[blockIdx.x] = total;
}
// END b
}  // namespace b

namespace c {
// No race
// All blocks add to one place, each by one atomic. Atomics on the same place do not race, and no
// addition gets lost. The next kernel in the stream can use the sum.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void sum(const int* values, int* sums) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, values[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&sums[0], total);
}
// END c
}  // namespace c

namespace d {
// Race: missing atomic
// One thread per block writes, but the four blocks have one place in common. Each reads it, adds
// and writes it back, and an addition of another block in between gets lost.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void sum(const int* values, int* sums) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, values[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) sums[0] += total;
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::sum, b::sum, c::sum, d::sum}, [](auto sum) {
    auto values = lab::zeroed<int>(256), sums = lab::zeroed<int>(4);
    sum<<<4, 64>>>(values.data(), sums.data());
  });
}
