// SPDX-License-Identifier: MIT
// Prediction 1: The orders of a meeting
//
// The two blocks meet, and then each thread copies a word of the other block. The launch is
// cooperative, with 2 blocks of 64 threads, and the counter is 0 before.
//
// A common mistake (c): An atomic read-modify-write with both orders makes the polls' order
// superfluous.
#include <cuda/atomic>

#include "lab/check.cuh"
#include "lab/variants.cuh"

namespace a {
// No race
// The arrival releases what the block wrote before the barrier. A block that sees both arrivals
// acquires both.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_release);
    while (count.load(cuda::memory_order_acquire) < 2) {
    }
  }
  __syncthreads();
  copies[mine] = words[(mine + 64) % 128];
}
// END a
}  // namespace a

namespace b {
// Race: missing release
// The arrival publishes nothing: relaxed is atomic, and no more.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_relaxed);
    while (count.load(cuda::memory_order_acquire) < 2) {
    }
  }
  __syncthreads();
  copies[mine] = words[(mine + 64) % 128];
}
// END b
}  // namespace b

namespace c {
// Race: missing acquire
// The arrival acquires what came before it. The block that arrives first sees the other's arrival
// only in its polls, and these do not acquire.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_acq_rel);
    while (count.load(cuda::memory_order_relaxed) < 2) {
    }
  }
  __syncthreads();
  copies[mine] = words[(mine + 64) % 128];
}
// END c
}  // namespace c

namespace d {
// No race
// Every thread polls and acquires for itself, so no thread has to hand it on and no second barrier
// is needed. It takes more polls.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  __syncthreads();
  if (threadIdx.x == 0) count.fetch_add(1, cuda::memory_order_release);
  while (count.load(cuda::memory_order_acquire) < 2) {
  }
  copies[mine] = words[(mine + 64) % 128];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(
      argc, argv, {a::swap_all, b::swap_all, c::swap_all, d::swap_all}, [](auto swap_all) {
        auto words = lab::zeroed<int>(128), copies = lab::zeroed<int>(128);
        auto arrived = lab::zeroed<unsigned>(1);
        int *words_data = words.data(), *copies_data = copies.data();
        unsigned* arrived_data = arrived.data();
        void* arguments[] = {&words_data, &arrived_data, &copies_data};
        CUDA_CHECK(cudaLaunchCooperativeKernel(swap_all, dim3(2), dim3(64), arguments));
        CUDA_CHECK(cudaDeviceSynchronize());
      });
}
