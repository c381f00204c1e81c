// SPDX-License-Identifier: MIT
// Prediction 3: Aggregate and prefix
//
// 8 blocks of 1 thread. Block 0 publishes 7 and later 12. The others look once, and take what the
// tag says.
//
// A common mistake (a): Once a value is published with release, its place may be written again.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// Race: access after the release, write after its signal
// A block that has seen the tag 1 may read the place while 12 is being written. The second write is
// ordered after no read.
// See README.md#why-it-is-correct
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
// No race
// Each value has a place, which is written once, and each tag releases what came before it.
// See README.md#why-it-is-correct
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
// Race: missing release
// The store of 2 releases nothing. What the first store released ends before the 12 was written.
// See README.md#why-it-is-correct
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
// No race
// Both values come before the first release. A later relaxed store by the same thread publishes
// that, too: PTX calls it a release pattern.
// See ../04_last_block_guard/release_acquire.md#in-the-code
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
