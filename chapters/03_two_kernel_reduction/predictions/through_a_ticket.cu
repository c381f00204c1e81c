// SPDX-License-Identifier: MIT
// A prediction, told in through_a_ticket.json: a release that arrives through another ticket.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
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
