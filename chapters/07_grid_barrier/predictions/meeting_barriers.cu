// SPDX-License-Identifier: MIT
// Prediction 2: Barriers around a meeting
//
// The two blocks meet, and then each thread copies a word of the other block. The launch is
// cooperative, with 2 blocks of 64 threads, and the counter is 0 before.
//
// A common mistake (abd): A barrier of the whole grid includes the block's own threads, so the
// block needs no barrier.
#include <cuda/atomic>

#include "lab/check.cuh"
#include "lab/variants.cuh"

namespace a {
// Race: missing barrier before the atomic
// Thread 0 may count its block before thread 5 has written.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_acq_rel);
    while (count.load(cuda::memory_order_acquire) < 2) {
    }
  }
  __syncthreads();
  copies[mine] = words[(mine + 64) % 128];
}
// END a
}  // namespace a

namespace b {
// Race: missing barrier before the atomic
// Each thread fences its own write, but nothing makes thread 0 wait for the others before it counts
// its block.
// See ../04_last_block_guard/README.md#why-it-is-correct
// BEGIN b
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  __threadfence();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_acq_rel);
    while (count.load(cuda::memory_order_acquire) < 2) {
    }
  }
  __syncthreads();
  copies[mine] = words[(mine + 64) % 128];
}
// END b
}  // namespace b

namespace c {
// No race
// Each thread counts itself and waits for all 128. That is right without a barrier, and takes 64
// times as many atomics.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  count.fetch_add(1, cuda::memory_order_release);
  while (count.load(cuda::memory_order_acquire) < 128) {
  }
  copies[mine] = words[(mine + 64) % 128];
}
// END c
}  // namespace c

namespace d {
// Race: missing barrier after the atomic
// Thread 0 waits, and the other threads of its block do not wait for it.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void swap_all(int* words, unsigned* arrived, int* copies) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  const unsigned mine = blockIdx.x * 64 + threadIdx.x;
  words[mine] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    count.fetch_add(1, cuda::memory_order_acq_rel);
    while (count.load(cuda::memory_order_acquire) < 2) {
    }
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
