// SPDX-License-Identifier: MIT
// Prediction 1: All in one kernel?
//
// One block shall add up what all blocks have left, in the same kernel. It is launched with 4
// blocks of 64 threads. __threadfence() orders the memory accesses of the thread that calls it;
// __nanosleep(1000000) makes a thread wait for about a millisecond.
//
// A common mistake (abcd): A barrier, a fence or enough time makes one block wait for the others.
#include "lab/variants.cuh"

namespace a {
// Race: no synchronisation
// __syncthreads() is a barrier of one block. Block 0 waits for its own threads, and not for the
// other blocks, which may not even have started.
// See README.md#see-it-fail
// BEGIN a
__global__ void sum(const int* values, int* partials, int* result) {
  if (threadIdx.x == 0) partials[blockIdx.x] = values[blockIdx.x];
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) total += partials[k];
    *result = total;
  }
}
// END a
}  // namespace a

namespace b {
// Race: no synchronisation
// A fence orders what its own thread does. It makes no thread wait, and tells block 0 nothing about
// the others.
// See README.md#see-it-fail
// BEGIN b
__global__ void sum(const int* values, int* partials, int* result) {
  if (threadIdx.x == 0) partials[blockIdx.x] = values[blockIdx.x];
  __threadfence();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) total += partials[k];
    *result = total;
  }
}
// END b
}  // namespace b

namespace c {
// Race: no synchronisation
// A fence and a barrier together still do not reach another block. And the block with the largest
// index need not be the last one to run.
// See README.md#see-it-fail
// BEGIN c
__global__ void sum(const int* values, int* partials, int* result) {
  if (threadIdx.x == 0) partials[blockIdx.x] = values[blockIdx.x];
  __threadfence();
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) total += partials[k];
    *result = total;
  }
}
// END c
}  // namespace c

namespace d {
// Race: no synchronisation
// Time orders nothing. However long a thread waits, no rule says that the other blocks have started
// by then, let alone that their writes can be seen.
// See README.md#see-it-fail
// BEGIN d
__global__ void sum(const int* values, int* partials, int* result) {
  if (threadIdx.x == 0) partials[blockIdx.x] = values[blockIdx.x];
  __nanosleep(1000000);
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) total += partials[k];
    *result = total;
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::sum, b::sum, c::sum, d::sum}, [](auto sum) {
    auto values = lab::zeroed<int>(4), partials = lab::zeroed<int>(4), result = lab::zeroed<int>(1);
    sum<<<4, 64>>>(values.data(), partials.data(), result.data());
  });
}
