// SPDX-License-Identifier: MIT
// A prediction, told in reset.json: who sets the counter back to 0.
#include "lab/variants.cuh"

namespace a {
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
