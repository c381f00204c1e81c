// SPDX-License-Identifier: MIT
// Prediction 3: Two meetings in a row
//
// In each of two rounds the blocks write a word, meet, and read the other block's word. The launch
// is cooperative, with 2 blocks of 1 thread, and the counter is 0 before.
//
// A common mistake (d): A counter that all blocks have reached can be waited for again.
#include <cuda/atomic>

#include "lab/check.cuh"
#include "lab/variants.cuh"

namespace a {
// Race: missing wait for the next round
// After the first meeting a fast block goes on and overwrites its word while the slow one has yet
// to read it.
// See README.md#check-yourself
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
// No race
// Two meetings per round: before the read all have written, and before the next write all have
// read. The counter only grows, and each meeting waits for a larger number.
// See README.md#the-idea
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
// No race
// The words of two successive rounds are different ones. A block can be ahead by one round and not
// by two, so one meeting per round is enough.
// See README.md#check-yourself
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
// Race: missing wait for the next round
// The counter is 2 after the first meeting and stays above it, so each later meeting lets everybody
// through at once.
// See README.md#the-idea
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
