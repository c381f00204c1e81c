// SPDX-License-Identifier: MIT
// A prediction, told in meeting_twice.json: what a meeting takes if it happens again
#include <cuda/atomic>

#include "lab/check.cuh"
#include "lab/variants.cuh"

namespace a {
// BEGIN a
__device__ void meet(unsigned* arrived, unsigned all) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  count.fetch_add(1, cuda::memory_order_acq_rel);
  while (count.load(cuda::memory_order_acquire) < all) {
  }
}
__global__ void twice(int* words, unsigned* arrived, int* copies) {
  const unsigned mine = blockIdx.x, other = 1 - blockIdx.x;
  for (int round = 1; round <= 2; ++round) {
    words[mine] = round;
    meet(arrived, 2 * round);
    copies[mine] += words[other];
  }
}
// END a
}  // namespace a

namespace b {
// BEGIN b
__device__ void meet(unsigned* arrived, unsigned all) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  count.fetch_add(1, cuda::memory_order_acq_rel);
  while (count.load(cuda::memory_order_acquire) < all) {
  }
}
__global__ void twice(int* words, unsigned* arrived, int* copies) {
  const unsigned mine = blockIdx.x, other = 1 - blockIdx.x;
  for (int round = 1; round <= 2; ++round) {
    words[mine] = round;
    meet(arrived, 4 * round - 2);
    copies[mine] += words[other];
    meet(arrived, 4 * round);
  }
}
// END b
}  // namespace b

namespace c {
// BEGIN c
__device__ void meet(unsigned* arrived, unsigned all) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  count.fetch_add(1, cuda::memory_order_acq_rel);
  while (count.load(cuda::memory_order_acquire) < all) {
  }
}
__global__ void twice(int* words, unsigned* arrived, int* copies) {
  const unsigned mine = blockIdx.x, other = 1 - blockIdx.x;
  for (int round = 1; round <= 2; ++round) {
    words[mine + 2 * (round % 2)] = round;
    meet(arrived, 2 * round);
    copies[mine] += words[other + 2 * (round % 2)];
  }
}
// END c
}  // namespace c

namespace d {
// BEGIN d
__device__ void meet(unsigned* arrived, unsigned all) {
  using atomic = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  const atomic count(*arrived);
  count.fetch_add(1, cuda::memory_order_acq_rel);
  while (count.load(cuda::memory_order_acquire) < all) {
  }
}
__global__ void twice(int* words, unsigned* arrived, int* copies) {
  const unsigned mine = blockIdx.x, other = 1 - blockIdx.x;
  for (int round = 1; round <= 2; ++round) {
    words[mine] = round;
    meet(arrived, 2);
    copies[mine] += words[other];
    meet(arrived, 2);
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::twice, b::twice, c::twice, d::twice}, [](auto twice) {
    auto words = lab::zeroed<int>(128), copies = lab::zeroed<int>(128);
    auto arrived = lab::zeroed<unsigned>(1);
    int *words_data = words.data(), *copies_data = copies.data();
    unsigned* arrived_data = arrived.data();
    void* arguments[] = {&words_data, &arrived_data, &copies_data};
    CUDA_CHECK(cudaLaunchCooperativeKernel(twice, dim3(2), dim3(1), arguments));
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}
