// SPDX-License-Identifier: MIT
// Prediction 5: The ticket's order and scope
//
// The block with the last ticket copies what all threads of all blocks have written. The kernel is
// launched with 4 blocks of 64 threads, and the counter is 0 before.
//
// A common mistake (c): acq_rel is enough, whatever the scope.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// Race: missing acquire
// Each block publishes what it wrote, but the last one acquires nothing. No block knows beforehand
// whether it will be the last, so each ticket has to be an acquire as well.
// See release_acquire.md#why-it-is-correct
// BEGIN a
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  using arrivals = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  constexpr auto order = cuda::memory_order_release;
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    last = arrivals(*counter).fetch_add(1, order) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END a
}  // namespace a

namespace b {
// No race
// acq_rel is what a ticket needs. The scope is wider than necessary: system includes the whole
// device. That may cost time, and it is right.
// See ../../docs/memory-model.md#weak-and-strong-and-how-far
// BEGIN b
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  using arrivals = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
  constexpr auto order = cuda::memory_order_acq_rel;
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    last = arrivals(*counter).fetch_add(1, order) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END b
}  // namespace b

namespace c {
// Race: scope too narrow
// The order is right, but a release of block scope reaches the threads of its own block alone. Even
// the additions to the counter race, between blocks.
// See release_acquire.md#why-it-is-correct
// BEGIN c
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  using arrivals = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
  constexpr auto order = cuda::memory_order_acq_rel;
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    last = arrivals(*counter).fetch_add(1, order) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END c
}  // namespace c

namespace d {
// No race
// The atomic itself is relaxed. The fence before it makes it a release, and the fence after it an
// acquire. That is how the classic guard is repaired.
// See release_acquire.md#in-the-code
// BEGIN d
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  using arrivals = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  constexpr auto order = cuda::memory_order_relaxed;
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = arrivals(*counter).fetch_add(1, order) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::copy_all, b::copy_all, c::copy_all, d::copy_all},
                          [](auto copy_all) {
                            auto words = lab::zeroed<int>(256), copies = lab::zeroed<int>(256);
                            auto counter = lab::zeroed<unsigned>(1);
                            copy_all<<<4, 64>>>(words.data(), counter.data(), copies.data());
                          });
}
