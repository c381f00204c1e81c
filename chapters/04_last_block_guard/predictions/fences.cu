// SPDX-License-Identifier: MIT
// Prediction 1: Fences around a ticket
//
// The block with the last ticket copies what all threads of all blocks have written. The kernel is
// launched with 4 blocks of 64 threads, and the counter is 0 before.
//
// A common mistake (b): A fence that every thread calls for its own writes makes the barrier before
// the ticket superfluous.
#include "lab/variants.cuh"

namespace a {
// No race
// Only thread 0 fences, and that is enough: by the barrier, the writes of all 64 threads happen
// before its fence, and a release publishes all that happens before it.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END a
}  // namespace a

namespace b {
// Race: missing barrier before the atomic
// Each thread fences its own write, but nothing makes thread 0 wait for the others. It may take the
// ticket before thread 5 has written.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END b
}  // namespace b

namespace c {
// Race: missing acquire
// The last block sees the other tickets, and does nothing to see what came with them: after the
// atomic a fence is missing.
// See release_acquire.md#why-it-is-correct
// BEGIN c
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END c
}  // namespace c

namespace d {
// No race
// Thread 0 fences after the barrier, as in a, and that is what publishes all writes. The fences
// before the barrier are superfluous.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::copy_all, b::copy_all, c::copy_all, d::copy_all},
                          [](auto copy_all) {
                            auto words = lab::zeroed<int>(256), copies = lab::zeroed<int>(256);
                            auto counter = lab::zeroed<unsigned>(1);
                            copy_all<<<4, 64>>>(words.data(), counter.data(), copies.data());
                          });
}
