// SPDX-License-Identifier: MIT
// A prediction, told in meeting_barriers.json: the block's own barriers around a meeting
#include <cuda/atomic>

#include "lab/check.cuh"
#include "lab/variants.cuh"

namespace a {
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
