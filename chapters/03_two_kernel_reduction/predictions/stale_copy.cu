// SPDX-License-Identifier: MIT
// A prediction, told in stale_copy.json: where a reader's fence has to stand.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void hand_over(int* word, int* flag, int* copy) {
  if (blockIdx.x == 0) {
    *word = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    *copy = *word;
  }
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void hand_over(int* word, int* flag, int* copy) {
  if (blockIdx.x == 0) {
    *word = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    __threadfence();
    *copy = *word;
  }
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void hand_over(int* word, int* flag, int* copy) {
  if (blockIdx.x == 0) {
    *word = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    __threadfence();
    if (atomicAdd(flag, 0) == 1) *copy = *word;
  }
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void hand_over(int* word, int* flag, int* copy) {
  if (blockIdx.x == 0) {
    *word = 42;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    const int early = *word;
    if (atomicAdd(flag, 0) == 1) {
      __threadfence();
      *copy = early;
    }
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(
      argc, argv, {a::hand_over, b::hand_over, c::hand_over, d::hand_over}, [](auto hand_over) {
        auto word = lab::zeroed<int>(1), flag = lab::zeroed<int>(1), copy = lab::zeroed<int>(1);
        hand_over<<<2, 1>>>(word.data(), flag.data(), copy.data());
      });
}
