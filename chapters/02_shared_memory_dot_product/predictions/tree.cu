// SPDX-License-Identifier: MIT
// A prediction, told in tree.json: where the barriers of a tree stand.
#include "lab/variants.cuh"

namespace a {
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
