// SPDX-License-Identifier: MIT
// Prediction 6: A release that comes through another ticket
//
// Block 0 writes a word. Each block adds 1 to the counter, and block 2 copies the word if both
// others have done so before it. If it is third after block 1, the value that it reads is block
// 1's, not block 0's. The kernel is launched with 3 blocks of 1 thread, and the counter is 0
// before.
//
// A common mistake (a): A release reaches only a thread that reads exactly the value that it wrote.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// No race
// Block 1's addition reads and writes in one step, so it continues what block 0's release began,
// although it is relaxed itself. An acquire that reads the value of block 1 also acquires from
// block 0.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN a
__global__ void pass_on(int* word, int* counter, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tickets(*counter);
  if (blockIdx.x == 0) {
    *word = 42;
    tickets.fetch_add(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    tickets.fetch_add(1, cuda::memory_order_relaxed);
  } else if (tickets.fetch_add(1, cuda::memory_order_acquire) == 2) {
    *copy = *word;
  }
}
// END a
}  // namespace a

namespace b {
// Race: missing release
// Block 1 releases, but it has written nothing. Block 0's addition is relaxed and publishes
// nothing, and no other block can do that for it.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN b
__global__ void pass_on(int* word, int* counter, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tickets(*counter);
  if (blockIdx.x == 0) {
    *word = 42;
    tickets.fetch_add(1, cuda::memory_order_relaxed);
  } else if (blockIdx.x == 1) {
    tickets.fetch_add(1, cuda::memory_order_release);
  } else if (tickets.fetch_add(1, cuda::memory_order_acquire) == 2) {
    *copy = *word;
  }
}
// END b
}  // namespace b

namespace c {
// Race: release sequence ended
// Load and store are two steps. A relaxed store of another thread starts anew, so what block 0 has
// released ends at block 1. (An addition may get lost as well.)
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN c
__global__ void pass_on(int* word, int* counter, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tickets(*counter);
  if (blockIdx.x == 0) {
    *word = 42;
    tickets.fetch_add(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    const int seen = tickets.load(cuda::memory_order_relaxed);
    tickets.store(seen + 1, cuda::memory_order_relaxed);
  } else if (tickets.fetch_add(1, cuda::memory_order_acquire) == 2) {
    *copy = *word;
  }
}
// END c
}  // namespace c

namespace d {
// No race
// Block 1 acquires from block 0 and then releases: two pairs, one after the other, so that the word
// arrives. But an addition may get lost between load and store; then block 2 copies nothing. No
// race, and still no counter.
// See ../../docs/memory-model.md#release-and-acquire
// BEGIN d
__global__ void pass_on(int* word, int* counter, int* copy) {
  cuda::atomic_ref<int, cuda::thread_scope_device> tickets(*counter);
  if (blockIdx.x == 0) {
    *word = 42;
    tickets.fetch_add(1, cuda::memory_order_release);
  } else if (blockIdx.x == 1) {
    const int seen = tickets.load(cuda::memory_order_acquire);
    tickets.store(seen + 1, cuda::memory_order_release);
  } else if (tickets.fetch_add(1, cuda::memory_order_acquire) == 2) {
    *copy = *word;
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(
      argc, argv, {a::pass_on, b::pass_on, c::pass_on, d::pass_on}, [](auto pass_on) {
        auto word = lab::zeroed<int>(1), counter = lab::zeroed<int>(1), copy = lab::zeroed<int>(1);
        pass_on<<<3, 1>>>(word.data(), counter.data(), copy.data());
      });
}
