// SPDX-License-Identifier: MIT
// A prediction, told in two_values.json: an aggregate first, and a prefix later.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// BEGIN a
__global__ void tile(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    value[0] = 7;
    tag.store(1, cuda::memory_order_release);
    value[0] = 12;
    tag.store(2, cuda::memory_order_release);
  } else if (tag.load(cuda::memory_order_acquire) != 0) {
    seen[blockIdx.x] = value[0];
  }
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__global__ void tile(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    value[0] = 7;
    tag.store(1, cuda::memory_order_release);
    value[1] = 12;
    tag.store(2, cuda::memory_order_release);
  } else {
    const int now = tag.load(cuda::memory_order_acquire);
    if (now != 0) seen[blockIdx.x] = value[now - 1];
  }
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__global__ void tile(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    value[0] = 7;
    tag.store(1, cuda::memory_order_release);
    value[1] = 12;
    tag.store(2, cuda::memory_order_relaxed);
  } else {
    const int now = tag.load(cuda::memory_order_acquire);
    if (now != 0) seen[blockIdx.x] = value[now - 1];
  }
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__global__ void tile(int* value, int* flag, int* seen) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tag(*flag);
  if (blockIdx.x == 0) {
    value[0] = 7;
    value[1] = 12;
    tag.store(1, cuda::memory_order_release);
    tag.store(2, cuda::memory_order_relaxed);
  } else {
    const int now = tag.load(cuda::memory_order_acquire);
    if (now != 0) seen[blockIdx.x] = value[now - 1];
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::tile, b::tile, c::tile, d::tile}, [](auto tile) {
    auto value = lab::zeroed<int>(2), flag = lab::zeroed<int>(1), seen = lab::zeroed<int>(8);
    tile<<<8, 1>>>(value.data(), flag.data(), seen.data());
  });
}
