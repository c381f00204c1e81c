// SPDX-License-Identifier: MIT
// A prediction, told in same_kernel.json: blocks that are to wait within one kernel.
#include "lab/variants.cuh"

namespace a {
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
