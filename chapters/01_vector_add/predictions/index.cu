// SPDX-License-Identifier: MIT
// Prediction 1: Which element is mine?
//
// The kernel is launched with 4 blocks of 64 threads, and n is 253. The three arrays do not
// overlap. A race is this: two threads access one place in memory, at least one of them writes, and
// nothing puts the two in order.
//
// A common mistake (ac): Several threads may write one element, as long as all of them write the
// same value.
#include "lab/variants.cuh"

namespace a {
// Race: no synchronisation
// Thread 5 of each block takes element 5. All of them write the same sum, and still it is a race:
// several threads write one place, and nothing puts them in order. (The elements from 64 on get no
// thread.)
// See README.md#why-it-is-correct
// BEGIN a
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END a
}  // namespace a

namespace b {
// No race
// The 256 threads compute the indices 0 to 255, each of them once. So each element has a thread of
// its own.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END b
}  // namespace b

namespace c {
// Race: no synchronisation
// Each block but the first begins with the last element of the block before it: thread 63 of block
// 0 and thread 0 of block 1 both write element 63. All sums come out right, because both write the
// same value. It is a race nevertheless.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END c
}  // namespace c

namespace d {
// No race
// Here block 0 takes the elements 0, 4, 8 and so on. The order is unusual, but each index still
// comes up once, so no element has two threads.
// See README.md#why-it-is-correct
// BEGIN d
__global__ void add(const int* x, const int* y, int* sums, unsigned n) {
  const unsigned i = threadIdx.x * gridDim.x + blockIdx.x;
  if (i < n) sums[i] = x[i] + y[i];
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::add, b::add, c::add, d::add}, [](auto add) {
    constexpr unsigned n = 253;
    auto x = lab::zeroed<int>(n), y = lab::zeroed<int>(n), sums = lab::zeroed<int>(n);
    add<<<4, 64>>>(x.data(), y.data(), sums.data(), n);
  });
}
