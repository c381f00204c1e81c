// SPDX-License-Identifier: MIT
// Prediction 2: How far is a step?
//
// Each element of x shall be added once to the same element of sums; n is 500. atomicAdd(&sums[i],
// x[i]) does what sums[i] += x[i] does, but in one step that no other thread can interrupt.
//
// A common mistake (c): A program without a race computes the right result.
#include "lab/variants.cuh"

namespace a {
// No race
// Each thread steps over the whole grid. So no two threads ever come to the same element.
// See fast.md#any-grid
// BEGIN a
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += gridDim.x * blockDim.x) {
    sums[i] += x[i];
  }
}

void run(int* x, int* sums, unsigned n) { add<<<4, 64>>>(x, sums, n); }
// END a
}  // namespace a

namespace b {
// Race: stride of one block
// Each thread steps over its own block alone. Thread 0 of block 0 comes to element 64, where thread
// 0 of block 1 begins. Both read the element, add to it and write it back, and one addition can get
// lost.
// See fast.md#any-grid
// BEGIN b
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += blockDim.x) {
    sums[i] += x[i];
  }
}

void run(int* x, int* sums, unsigned n) { add<<<4, 64>>>(x, sums, n); }
// END b
}  // namespace b

namespace c {
// No race
// Two atomics do not race. The result is wrong nevertheless: as in b, several blocks come to the
// same elements, so elements are added more than once. Free of races does not mean right.
// See fast.md#any-grid
// BEGIN c
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += blockDim.x) {
    atomicAdd(&sums[i], x[i]);
  }
}

void run(int* x, int* sums, unsigned n) { add<<<4, 64>>>(x, sums, n); }
// END c
}  // namespace c

namespace d {
// No race
// The step is the same as in b, but the grid has one block. Its threads are all there are, so a
// step over the block is a step over the grid.
// See fast.md#any-grid
// BEGIN d
__global__ void add(const int* x, int* sums, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < n; i += blockDim.x) {
    sums[i] += x[i];
  }
}

void run(int* x, int* sums, unsigned n) { add<<<1, 64>>>(x, sums, n); }
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::run, b::run, c::run, d::run}, [](auto run) {
    constexpr unsigned n = 500;
    auto x = lab::zeroed<int>(n), sums = lab::zeroed<int>(n);
    run(x.data(), sums.data(), n);
  });
}
