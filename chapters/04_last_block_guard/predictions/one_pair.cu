// SPDX-License-Identifier: MIT
// Prediction 2: One release and one acquire
//
// Block 0 writes a word and sets a flag. Block 1 looks at the flag once, and copies the word if the
// flag is set. The kernel is launched with 2 blocks of 1 thread, and word and flag are 0 before. A
// release publishes what its thread did before; an acquire that reads its value makes that visible.
//
// A common mistake (cd): One half of a pair of release and acquire is enough.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// No race
// The store releases, and the load that reads its value acquires. So the write of the word happens
// before its copy. If the flag is not set yet, block 1 does not touch the word.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN a
__global__ void hand_over(int* word, int* flag, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
  if (blockIdx.x == 0) {
    *word = 42;
    is_set.store(1, cuda::memory_order_release);
  } else if (is_set.load(cuda::memory_order_acquire) == 1) {
    *copy = *word;
  }
}
// END a
}  // namespace a

namespace b {
// Race: access after the release
// A release publishes what its thread did before it. The word is written after it, so it is not
// published.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN b
__global__ void hand_over(int* word, int* flag, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
  if (blockIdx.x == 0) {
    is_set.store(1, cuda::memory_order_release);
    *word = 42;
  } else if (is_set.load(cuda::memory_order_acquire) == 1) {
    *copy = *word;
  }
}
// END b
}  // namespace b

namespace c {
// Race: missing acquire
// Block 0 publishes the word, but the load of the flag is relaxed: block 1 may still use an old
// copy of the word, or read it before the flag.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN c
__global__ void hand_over(int* word, int* flag, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
  if (blockIdx.x == 0) {
    *word = 42;
    is_set.store(1, cuda::memory_order_release);
  } else if (is_set.load(cuda::memory_order_relaxed) == 1) {
    *copy = *word;
  }
}
// END c
}  // namespace c

namespace d {
// Race: missing release
// The store of the flag is relaxed, so it may become visible before the word does. The acquire has
// no release to pair with.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN d
__global__ void hand_over(int* word, int* flag, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> is_set(*flag);
  if (blockIdx.x == 0) {
    *word = 42;
    is_set.store(1, cuda::memory_order_relaxed);
  } else if (is_set.load(cuda::memory_order_acquire) == 1) {
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
