// SPDX-License-Identifier: MIT
// Prediction 7: Which fence?
//
// The block with the last ticket copies what all threads of all blocks have written. The kernel is
// launched with 4 blocks of 64 threads, and the counter is 0 before. __threadfence() is a
// sequentially consistent fence: all fences of this kind have one order, which agrees with barriers
// and with the tickets that a thread has seen. A fence that is only acq_rel is not in that order.
//
// A common mistake (bd): After a barrier, thread 0's atomic publishes what each thread has fenced.
#include <cuda/atomic>

#include "lab/variants.cuh"

namespace a {
// No race
// Each thread's fence comes before the barrier, and the barrier before the ticket. The last block
// fences after its ticket, so its fence is later in the one order, and so are its reads.
// See ../../docs/memory-model.md#barriers
// BEGIN a
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END a
}  // namespace a

namespace b {
// Race: missing barrier before the atomic
// Fence and ticket make a release only in one thread, and thread 0's fence comes before it waits
// for the others. Thread 5 has fenced but takes no ticket, and acq_rel fences have no common order.
// See ../../docs/memory-model.md#barriers
// BEGIN b
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel);
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel);
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END b
}  // namespace b

namespace c {
// No race
// The barrier puts all writes before thread 0's fence, and fence and ticket are a release by one
// thread. So an acq_rel fence is enough.
// See ../../docs/memory-model.md#barriers
// BEGIN c
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel);
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel);
  }
  __syncthreads();
  if (!last) return;
  for (unsigned k = threadIdx.x; k < 256; k += 64) copies[k] = words[k];
}
// END c
}  // namespace c

namespace d {
// Race: missing barrier before the atomic
// The fences before the barrier are in the one order, but the last block's fence is not. So nothing
// says that it comes after them.
// See ../../docs/memory-model.md#barriers
// BEGIN d
__global__ void copy_all(int* words, unsigned* counter, int* copies) {
  __shared__ bool last;
  words[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1) == gridDim.x - 1;
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel);
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
