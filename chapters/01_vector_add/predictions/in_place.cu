// SPDX-License-Identifier: MIT
// A prediction, told in in_place.json: which threads exchange a pair of elements.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void reverse(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = n - 1 - i;
  if (i < n) {
    const int kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void reverse(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = n - 1 - i;
  if (i < j) {
    const int kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void reverse(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = n - 1 - i;
  if (i <= j) {
    const int kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void reverse(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = n - 1 - i;
  if (i < n && i % 2 == 0) {
    const int kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::reverse, b::reverse, c::reverse, d::reverse},
                          [](auto reverse) {
                            constexpr int n = 255;
                            auto values = lab::zeroed<int>(n);
                            reverse<<<4, 64>>>(values.data(), n);
                          });
}
