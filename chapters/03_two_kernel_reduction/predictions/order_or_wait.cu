// SPDX-License-Identifier: MIT
// Prediction 4: A fence or a wait?
//
// Thread 0 writes a word, and thread 63 copies it. The kernel is launched with 1 block of 64
// threads. __threadfence() orders the memory accesses of the thread that calls it;
// __threadfence_system() does so for the host and other GPUs as well.
//
// A common mistake (abd): After a fence, the other thread has the new value.
#include "lab/variants.cuh"

namespace a {
// Race: missing __syncthreads()
// The fence orders what thread 0 does. Thread 63 waits for nothing: it may copy the word before
// thread 0 has written it.
// See ../../docs/memory-model.md#fences
// BEGIN a
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
    __threadfence();
  }
  if (threadIdx.x == 63) *copy = *word;
}
// END a
}  // namespace a

namespace b {
// Race: missing __syncthreads()
// Now both threads fence, and still neither waits. Two fences order two threads only if one of the
// threads also reads, after the write, a flag or counter that the other one has set.
// See ../../docs/memory-model.md#fences
// BEGIN b
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
    __threadfence();
  }
  __threadfence();
  if (threadIdx.x == 63) *copy = *word;
}
// END b
}  // namespace b

namespace c {
// No race
// The barrier holds each thread until all threads of the block have arrived. So the write happens
// before the copy, and no fence is needed: a barrier orders memory for its block.
// See ../../docs/memory-model.md#barriers
// BEGIN c
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
  }
  __syncthreads();
  if (threadIdx.x == 63) *copy = *word;
}
// END c
}  // namespace c

namespace d {
// Race: missing __syncthreads()
// A wider scope does not make a fence wait either. __syncwarp() does wait, but only for the 32
// threads of a warp, and threads 0 and 63 are in different warps.
// See ../../docs/memory-model.md#warps
// BEGIN d
__global__ void hand_over(int* word, int* copy) {
  if (threadIdx.x == 0) {
    *word = 42;
    __threadfence_system();
  }
  __syncwarp();
  if (threadIdx.x == 63) *copy = *word;
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::hand_over, b::hand_over, c::hand_over, d::hand_over},
                          [](auto hand_over) {
                            auto word = lab::zeroed<int>(1), copy = lab::zeroed<int>(1);
                            hand_over<<<1, 64>>>(word.data(), copy.data());
                          });
}
