// SPDX-License-Identifier: MIT
// A prediction, told in one_pair.json: one release and one acquire, and no counter.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
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
