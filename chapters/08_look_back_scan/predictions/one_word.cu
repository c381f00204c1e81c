// SPDX-License-Identifier: MIT
// A prediction, told in one_word.json: a value and the tag that announces it.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
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
