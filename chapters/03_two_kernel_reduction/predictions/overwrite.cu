// SPDX-License-Identifier: MIT
// A prediction, told in overwrite.json: what one launch may overwrite.
#include "lab/variants.cuh"

namespace a {
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
