// SPDX-License-Identifier: MIT
// Prediction 3: Back to 0
//
// 4 blocks of 1 thread do 20 items, in two launches. The counter has to be 0 again before the
// second one.
//
// A common mistake (d): A plain reset is always wrong.
#include "lab/variants.cuh"

namespace a {
// No race
// Both kernels and the memset are in one stream, which does one after the other.
// See README.md#why-it-is-correct
// BEGIN a
__global__ void work(int* next, int* done) {
  int item = 0;
  while ((item = atomicAdd(next, 1)) < 20) atomicAdd(&done[item], 1);
}

void run(int* next, int* done) {
  work<<<4, 1>>>(next, done);
  cudaMemset(next, 0, sizeof(int));
  work<<<4, 1>>>(next, done);
}
// END a
}  // namespace a

namespace b {
// Race: plain mixed with atomic
// When block 0 finds the queue empty, other blocks may still be adding to the counter. A plain
// write against their atomics is a race.
// See README.md#why-it-is-correct
// BEGIN b
__global__ void work(int* next, int* done) {
  int item = 0;
  while ((item = atomicAdd(next, 1)) < 20) atomicAdd(&done[item], 1);
  if (blockIdx.x == 0) *next = 0;
}

void run(int* next, int* done) {
  work<<<4, 1>>>(next, done);
  work<<<4, 1>>>(next, done);
}
// END b
}  // namespace b

namespace c {
// No race
// Two atomics do not race. But a block that asks after the reset gets small numbers again, and does
// items a second time. Free of races does not mean right.
// See README.md#why-it-is-correct
// BEGIN c
__global__ void work(int* next, int* done) {
  int item = 0;
  while ((item = atomicAdd(next, 1)) < 20) atomicAdd(&done[item], 1);
  if (blockIdx.x == 0) atomicExch(next, 0);
}

void run(int* next, int* done) {
  work<<<4, 1>>>(next, done);
  work<<<4, 1>>>(next, done);
}
// END c
}  // namespace c

namespace d {
// No race
// Each of the 4 blocks gets one number beyond the last item, so the numbers end at 23. The one that
// gets 23 has seen all other additions, and none comes after it. So it may reset the counter by a
// plain write.
// See ../../docs/racecheck.md#what-it-checks
// BEGIN d
__global__ void work(int* next, int* done) {
  int item = 0;
  while ((item = atomicAdd(next, 1)) < 20) atomicAdd(&done[item], 1);
  if (item == 20 + 4 - 1) *next = 0;
}

void run(int* next, int* done) {
  work<<<4, 1>>>(next, done);
  work<<<4, 1>>>(next, done);
}
// END d
}  // namespace d

int main(int argc, char** argv) {
  return lab::run_variant(argc, argv, {a::run, b::run, c::run, d::run}, [](auto run) {
    auto next = lab::zeroed<int>(1), done = lab::zeroed<int>(20);
    run(next.data(), done.data());
  });
}
