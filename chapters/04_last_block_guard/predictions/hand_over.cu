// SPDX-License-Identifier: MIT
// A prediction, told in hand_over.json: a word and a flag between two blocks.
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void hand_over(int* word, int* flag, int* copy) {
  if (blockIdx.x == 0) {
    *word = 42;
    *static_cast<volatile int*>(flag) = 1;
  } else if (*static_cast<volatile int*>(flag) == 1) {
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
    atomicExch(word, 42);
    atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    *copy = atomicAdd(word, 0);
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
    *flag = 1;
  } else if (*flag == 1) {
    __threadfence();
    *copy = *word;
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
