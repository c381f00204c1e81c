// SPDX-License-Identifier: MIT
// Prediction 3: Reversed in place
//
// The kernel reverses an array in place. It is launched with 4 blocks of 64 threads, and n is 255.
//
// A common mistake (ad): In place is safe as long as each thread writes its own element.
#include "lab/variants.cuh"

namespace a {
// Race: no synchronisation
// Each pair is exchanged by two threads: thread 0 exchanges elements 0 and 254, and so does thread
// 254. Both write both elements.
// See README.md#check-yourself
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
// No race
// Only the thread with the smaller index of a pair works. The element in the middle has no
// partner and stays where it is.
// See README.md#check-yourself
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
// No race
// As b, and thread 127 also exchanges element 127 with itself. That is useless, but no other thread
// touches the element.
// See README.md#check-yourself
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
// Race: no synchronisation
// n - 1 is even here. So for an even i, j = n - 1 - i is even as well, and both threads of such a
// pair work. If n were even, j would be odd, and there would be no race: such code works until n
// changes.
// See README.md#check-yourself
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
