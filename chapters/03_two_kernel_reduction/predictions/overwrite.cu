// SPDX-License-Identifier: MIT
// Prediction 3: What a launch may overwrite
//
// Each of 256 elements is replaced by the sum of itself and the next one; in b this happens twice.
// x has room for 512 elements.
//
// A common mistake (d): If the host waits for the kernel, nothing in it can go wrong.
#include "lab/variants.cuh"

namespace a {
// Race: no synchronisation
// The barrier separates the reads from the writes inside each block. At the edge it does not help:
// thread 63 of block 0 reads element 64, which block 1 may have overwritten.
// See README.md#see-it-fail
// BEGIN a
__global__ void step(const int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = from[i] + from[(i + 1) % 256];
  __syncthreads();
  to[i] = sum;
}

void run(int* x) { step<<<4, 64>>>(x, x); }
// END a
}  // namespace a

namespace b {
// No race
// Each launch reads one half and writes the other one. The second launch reads what the first one
// wrote, and both are in one stream: it starts when the first has ended.
// See README.md#the-idea
// BEGIN b
__global__ void step(const int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = from[i] + from[(i + 1) % 256];
  __syncthreads();
  to[i] = sum;
}

void run(int* x) {
  step<<<4, 64>>>(x, x + 256);
  step<<<4, 64>>>(x + 256, x);
}
// END b
}  // namespace b

namespace c {
// No race
// One block has all 256 elements. So its barrier separates all reads from all writes.
// See README.md#see-it-fail
// BEGIN c
__global__ void step(const int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = from[i] + from[(i + 1) % 256];
  __syncthreads();
  to[i] = sum;
}

void run(int* x) { step<<<1, 256>>>(x, x); }
// END c
}  // namespace c

namespace d {
// Race: no synchronisation
// cudaDeviceSynchronize() makes the host wait until the kernel has ended. It orders nothing inside
// the kernel, where the blocks race as in a.
// See README.md#check-yourself
// BEGIN d
__global__ void step(const int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = from[i] + from[(i + 1) % 256];
  __syncthreads();
  to[i] = sum;
}

void run(int* x) {
  step<<<4, 64>>>(x, x);
  cudaDeviceSynchronize();
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::run, b::run, c::run, d::run}, [](auto run) {
    auto x = lab::zeroed<int>(512);
    run(x.data());
  });
}
