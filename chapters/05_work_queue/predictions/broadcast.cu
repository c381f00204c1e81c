// SPDX-License-Identifier: MIT
// A prediction, told in broadcast.json: how the item gets to all threads of a block.
#include "lab/variants.cuh"

namespace a {
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
