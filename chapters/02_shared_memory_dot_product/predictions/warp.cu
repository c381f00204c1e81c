// SPDX-License-Identifier: MIT
// A prediction, told in warp.json: what orders the threads of a warp.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<8, 32>>>(in, out); }
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  __syncwarp();
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<8, 32>>>(in, out); }
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  __syncwarp();
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<4, 64>>>(in, out); }
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  (void)__shfl_sync(0xffffffff, 0, 0);
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<8, 32>>>(in, out); }
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::run, b::run, c::run, d::run}, [](auto run) {
    auto values = lab::zeroed<int>(256), rotated = lab::zeroed<int>(256);
    run(values.data(), rotated.data());
  });
}
