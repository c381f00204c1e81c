// SPDX-License-Identifier: MIT
// Prediction 2: Inside a warp, and beyond
//
// Each thread reads the element that the next thread of its block has written. A block has 32
// threads, which is one warp, or 64. __syncwarp() is a barrier of one warp; __shfl_sync() here
// hands the 0 of the warp's first thread to all its threads.
//
// A common mistake (ad): Whatever brings the threads of a warp together also orders their memory
// accesses.
#include "lab/variants.cuh"

namespace a {
// Race: missing __syncwarp()
// The threads of a warp often run in step, and nothing guarantees it. Without a barrier a thread
// may read before its neighbour has written.
// See README.md#exercises
// BEGIN a
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<8, 32>>>(in, out); }
// END a
}  // namespace a

namespace b {
// No race
// Each block is one warp. So __syncwarp() makes all its threads wait, and what they wrote before it
// all of them can read after it.
// See README.md#exercises
// BEGIN b
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  __syncwarp();
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<8, 32>>>(in, out); }
// END b
}  // namespace b

namespace c {
// Race: missing __syncthreads()
// Now a block has two warps. Thread 31 reads what thread 32 has written, and thread 63 what thread
// 0 has: these are of different warps, for which __syncwarp() does nothing.
// See README.md#the-idea
// BEGIN c
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  __syncwarp();
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<4, 64>>>(in, out); }
// END c
}  // namespace c

namespace d {
// Race: missing __syncwarp()
// A shuffle hands over the values of variables. It does not order memory, so it is no barrier.
// See ../../docs/racecheck.md#what-it-checks
// BEGIN d
__global__ void rotate(const int* in, int* out) {
  __shared__ int shared[64];
  const unsigned mine = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = in[mine];
  (void)__shfl_sync(0xffffffff, 0, 0);
  out[mine] = shared[(threadIdx.x + 1) % blockDim.x];
}

void run(int* in, int* out) { rotate<<<8, 32>>>(in, out); }
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::run, b::run, c::run, d::run}, [](auto run) {
    auto values = lab::zeroed<int>(256), rotated = lab::zeroed<int>(256);
    run(values.data(), rotated.data());
  });
}
