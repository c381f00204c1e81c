// SPDX-License-Identifier: MIT
// Prediction 4: A word and a flag
//
// Block 0 writes a word and sets a flag. Block 1 looks at the flag once, and takes the word if the
// flag is set. The kernel is launched with 2 blocks of 1 thread, and word and flag are 0 before.
// atomicAdd(flag, 0) reads by an atomic.
//
// A common mistake (a): volatile is enough to hand data from one block to another.
#include "lab/variants.cuh"

namespace a {
// Race: missing release, missing acquire, volatile is no synchronisation
// volatile makes the compiler access the flag each time. It makes neither a release nor an acquire,
// so block 1 may see the flag and still read an old word.
// See ../../docs/racecheck.md#what-it-checks
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
// No race
// Fence and atomic make a release, atomic and fence make an acquire. If block 1 sees the flag, it
// also sees the word.
// See release_acquire.md#in-the-code
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
// No race
// Both places are accessed by atomics alone, and atomics do not race. But nothing orders the two:
// block 1 may see the flag and still read 0. Free of races does not mean that anything is handed
// over.
// See ../../docs/memory-model.md#one-threads-order-is-its-own
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
// Race: no synchronisation, plain flag
// Both fences are there, but a fence makes a release only with a strong write after it, such as an
// atomic, and an acquire only with a strong read before it. The flag itself is written and read
// plainly, and that is a race already.
// See release_acquire.md#in-the-code
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
