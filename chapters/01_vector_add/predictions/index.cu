// SPDX-License-Identifier: MIT
// A prediction, told in index.json: which element a thread takes.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = threadIdx.x * gridDim.x + blockIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::add, b::add, c::add, d::add}, [](auto add) {
    constexpr unsigned n = 253;
    auto x = lab::zeroed<int>(n), y = lab::zeroed<int>(n), sums = lab::zeroed<int>(n);
    add<<<4, 64>>>(x.data(), y.data(), sums.data(), n);
  });
}
