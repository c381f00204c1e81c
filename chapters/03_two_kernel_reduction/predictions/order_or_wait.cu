// SPDX-License-Identifier: MIT
// A prediction, told in order_or_wait.json: a fence orders, and makes no thread wait.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
    __threadfence();
  }
  if (threadIdx.x == 63) *copy = *word;
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
    __threadfence();
  }
  __threadfence();
  if (threadIdx.x == 63) *copy = *word;
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
  }
  __syncthreads();
  if (threadIdx.x == 63) *copy = *word;
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
    __threadfence_system();
  }
  __syncwarp();
  if (threadIdx.x == 63) *copy = *word;
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::hand_over, b::hand_over, c::hand_over, d::hand_over},
                          [](auto hand_over) {
                            auto word = lab::zeroed<int>(1), copy = lab::zeroed<int>(1);
                            hand_over<<<1, 64>>>(word.data(), copy.data());
                          });
}
