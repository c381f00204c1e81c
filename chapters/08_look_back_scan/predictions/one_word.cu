// SPDX-License-Identifier: MIT
// Prediction 1: A value and its tag
//
// 8 blocks of 1 thread. Block 0 leaves a value. The others look once, and take the value if it is
// there.
//
// A common mistake (d): A relaxed atomic can never hand over a value.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// No race
// The store of the tag releases the value before it, and a load that sees the tag acquires it.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void hand_over(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    *value = 42;
    tag.store(1, cuda::memory_order_release);
  } else if (tag.load(cuda::memory_order_acquire) == 1) {
    seen[blockIdx.x] = *value;
  }
}
// END a
}  // namespace a

namespace b {
// Race: missing acquire, missing release
// Relaxed order says nothing about the value: a block that sees the tag may still read what was
// there before.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void hand_over(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    *value = 42;
    tag.store(1, cuda::memory_order_relaxed);
  } else if (tag.load(cuda::memory_order_relaxed) == 1) {
    seen[blockIdx.x] = *value;
  }
}
// END b
}  // namespace b

namespace c {
// Race: access after the release, write after its signal
// A release publishes what came before it. The value comes after it.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void hand_over(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    tag.store(1, cuda::memory_order_release);
    *value = 42;
  } else if (tag.load(cuda::memory_order_acquire) == 1) {
    seen[blockIdx.x] = *value;
  }
}
// END c
}  // namespace c

namespace d {
// No race
// Tag and value are one word, which is stored and loaded as a whole. A thread that sees the
// tag has the value already.
// See README.md#the-kernel
// BEGIN d
__global__ void hand_over(int*, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> word(*flag);
  if (blockIdx.x == 0) {
    word.store(1 << 16 | 42, cuda::memory_order_relaxed);
  } else {
    const int now = word.load(cuda::memory_order_relaxed);
    if (now >> 16 == 1) seen[blockIdx.x] = now & 0xffff;
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  const auto kernels = {a::hand_over, b::hand_over, c::hand_over, d::hand_over};
  return lab::run_variant(argc, argv, kernels, [](auto hand_over) {
    auto value = lab::zeroed<int>(1), flag = lab::zeroed<int>(1), seen = lab::zeroed<int>(8);
    hand_over<<<8, 1>>>(value.data(), flag.data(), seen.data());
  });
}
