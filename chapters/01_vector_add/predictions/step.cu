// SPDX-License-Identifier: MIT
// A prediction, told in step.json: how far a thread of a grid-stride loop steps.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += gridDim.x * blockDim.x) {
    sums[i] += x[i];
  }
}

void run(int* x, int* sums, unsigned n) { add<<<4, 64>>>(x, sums, n); }
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += blockDim.x) {
    sums[i] += x[i];
  }
}

void run(int* x, int* sums, unsigned n) { add<<<4, 64>>>(x, sums, n); }
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += blockDim.x) {
    atomicAdd(&sums[i], x[i]);
  }
}

void run(int* x, int* sums, unsigned n) { add<<<4, 64>>>(x, sums, n); }
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += blockDim.x) {
    sums[i] += x[i];
  }
}

void run(int* x, int* sums, unsigned n) { add<<<1, 64>>>(x, sums, n); }
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::run, b::run, c::run, d::run}, [](auto run) {
    constexpr unsigned n = 500;
    auto x = lab::zeroed<int>(n), sums = lab::zeroed<int>(n);
    run(x.data(), sums.data(), n);
  });
}
