// SPDX-License-Identifier: MIT
// A prediction, told in who_stores.json: who stores the sum of a block.
#include "lab/variants.cuh"

namespace a {
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
