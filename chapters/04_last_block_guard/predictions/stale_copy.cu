// SPDX-License-Identifier: MIT
// Prediction 3: An old value after a new flag
//
// Block 0 writes a word and then sets a flag; its side is right in all four. Block 1 looks at the
// flag once, and copies the word if the flag is set. The kernel is launched with 2 blocks of 1
// thread, and word and flag are 0 before. atomicAdd(flag, 0) reads by an atomic.
//
// A common mistake (ac): A thread that sees the flag also sees everything that was written before
// it.
#include "lab/variants.cuh"

namespace a {
// Race: missing acquire
// Block 1 sees the flag, and nothing keeps it from an old word. Its SM's L1 cache may hold a copy
// that another thread there read earlier. Or the word is read before the flag: compiler and
// hardware may move a read up.
// See ../../docs/memory-model.md#one-threads-order-is-its-own
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
// No race
// Flag, fence, word: the fence after the atomic makes an acquire. No read after it may move up
// before it, and none may be answered by a copy that is older than the flag.
// See ../../docs/memory-model.md#release-and-acquire
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
// Race: missing acquire
// Here the fence comes before the atomic that reads the flag. After it, the word may still be read
// first, or a copy may come into the cache that is too old. An acquire takes a fence after the read
// of the flag.
// See ../../docs/memory-model.md#one-threads-order-is-its-own
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
// Race: no synchronisation
// This is what a read that has moved up looks like: the word is read before anybody knows about the
// flag. The fence comes too late for it.
// See ../../docs/memory-model.md#one-threads-order-is-its-own
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
