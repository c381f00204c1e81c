// SPDX-License-Identifier: MIT
// Prediction 1: One fetches, all work
//
// Blocks of 64 threads take items from a queue of 8, and each of the threads works on the item. In
// d it is each warp that takes an item. The kernel is launched with 3 blocks.
//
// A common mistake (a): One barrier, after the write, is enough to hand an item to the block.
#include "lab/variants.cuh"

namespace a {
// Race: missing __syncthreads()
// The barrier makes the others wait for the item. But nothing makes thread 0 wait for them: it may
// fetch the next item before they have read this one.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void work(int* next, int* done) {
  __shared__ int shared;
  int item = 0;
  while (item < 8) {
    if (threadIdx.x == 0) shared = atomicAdd(next, 1);
    __syncthreads();
    item = shared;
    if (item < 8) atomicAdd(&done[item], 1);
  }
}
// END a
}  // namespace a

namespace b {
// Race: missing __syncthreads()
// Both barriers are there, but the last line looks at the shared item again, after the second one.
// By then thread 0 may have written the next item. Each thread has to work with its own copy.
// See README.md#the-kernel
// BEGIN b
__global__ void work(int* next, int* done) {
  __shared__ int shared;
  int item = 0;
  while (item < 8) {
    if (threadIdx.x == 0) shared = atomicAdd(next, 1);
    __syncthreads();
    item = shared;
    __syncthreads();
    if (item < 8) atomicAdd(&done[shared], 1);
  }
}
// END b
}  // namespace b

namespace c {
// No race
// Before each fetch all threads meet, so all have read the last item. After the fetch they meet
// again, so the new item is there.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void work(int* next, int* done) {
  __shared__ int shared;
  int item = 0;
  while (item < 8) {
    __syncthreads();
    if (threadIdx.x == 0) shared = atomicAdd(next, 1);
    __syncthreads();
    item = shared;
    if (item < 8) atomicAdd(&done[item], 1);
  }
}
// END c
}  // namespace c

namespace d {
// No race
// The first thread of each warp keeps the item in a variable, and the shuffle hands it to the 31
// others. No memory is shared, so there is nothing to order, and no barrier is needed.
// See README.md#check-yourself
// BEGIN d
__global__ void work(int* next, int* done) {
  int item = 0;
  while (item < 8) {
    if (threadIdx.x % 32 == 0) item = atomicAdd(next, 1);
    item = __shfl_sync(0xffffffff, item, 0);
    if (item < 8) atomicAdd(&done[item], 1);
  }
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::work, b::work, c::work, d::work}, [](auto work) {
    auto next = lab::zeroed<int>(1), done = lab::zeroed<int>(12);
    work<<<3, 64>>>(next.data(), done.data());
  });
}
