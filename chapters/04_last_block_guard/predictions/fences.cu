// SPDX-License-Identifier: MIT
// A prediction, told in fences.json: the barrier and the fences around a ticket.
#include "lab/variants.cuh"

namespace a {
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
// BEGIN d
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
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
