// SPDX-License-Identifier: MIT
// Programs that take long, print much or do not end, for costs_test.py.
#include <string>

#include "racecheck/tests/cases.hpp"

namespace {

// Every thread fences and writes at block scope, and 32 threads of each block take locks in turn.
__global__ void publish_and_lock(int rounds, int* words, int* locks, int* sums) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    for (int j = 0; j < 4; ++j) {
      __threadfence_block();
      atomicExch_block(&words[me], j);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      while (atomicCAS(&locks[threadIdx.x], 0, 1) != 0) {
      }
      __threadfence();
      sums[threadIdx.x]++;
      __threadfence();
      atomicExch(&locks[threadIdx.x], 0);
    }
    __syncthreads();
  }
}

// As many accesses, of which none tells another thread anything.
__global__ void update(int rounds, int* words) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < 6 * rounds; ++i) atomicAdd(&words[me], 1);
}

// Each block adds its share of each row under the row's lock.
__global__ void multiply(const int* a, const int* b, int* c, int* locks, int n, int share) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = blockIdx.z * share; k < (static_cast<int>(blockIdx.z) + 1) * share; ++k) {
    sum += a[row * n + k] * b[k * n + column];
  }
  for (bool done = false; !done;) {
    if (atomicCAS(&locks[row], 0, 1) != 0) continue;
    __threadfence();
    c[row * n + column] += sum;
    __threadfence();
    atomicExch(&locks[row], 0);
    done = true;
  }
}

__global__ void race(int* data) { data[0] = static_cast<int>(blockIdx.x); }
__global__ void read_for_ever(volatile int* data) {
  while (data[1] == 0) data[2] = 0;
}
__global__ void compute_for_ever(int* data) {
  unsigned random = 1;
  while (random != 0) {
    random = (random * 1664525u + 1013904223u) | 1u;
    asm volatile("" : "+r"(random));  // a compiler may take for granted that other loops end
  }
  data[1] = static_cast<int>(random);
}

int run_locks(int rounds) {
  publish_and_lock<<<4, 64>>>(rounds, zeros(256), zeros(32), zeros(32));
  return cudaDeviceSynchronize() != cudaSuccess;
}

int run_updates(int rounds) {
  update<<<4, 64>>>(rounds, zeros(256));
  return cudaDeviceSynchronize() != cudaSuccess;
}

int run_product(int n) {
  constexpr int share = 8;
  const std::size_t elements = static_cast<std::size_t>(n) * n;
  const dim3 blocks(n / 16, n / 16, n / share);
  multiply<<<blocks, dim3(16, 16)>>>(zeros(elements), zeros(elements), zeros(elements),
                                     zeros(static_cast<std::size_t>(n)), n, share);
  return cudaDeviceSynchronize() != cudaSuccess;
}

int run_endless(const std::string& what) {
  int* const data = zeros(4);
  race<<<2, 1>>>(data);
  cudaDeviceSynchronize();
  if (what == "reads") read_for_ever<<<1, 1>>>(data);
  if (what == "computes") compute_for_ever<<<1, 1>>>(data);
  cudaDeviceSynchronize();
  volatile bool goes_on = what == "host";
  while (goes_on) {
  }
  return 0;
}

int print_much(int megabytes) {
  race<<<2, 1>>>(zeros(1));
  cudaDeviceSynchronize();
  const std::string line(1023, 'x');
  for (int i = 0; i < 1024 * megabytes; ++i) std::puts(line.c_str());
  return 3;
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const int size = count > 2 ? std::atoi(words[2]) : 1;
  if (what == "locks") return run_locks(size);
  if (what == "updates") return run_updates(size);
  if (what == "product") return run_product(size);
  if (what == "prints") return print_much(size);
  if (what == "reads" || what == "computes" || what == "host") return run_endless(what);
  std::fprintf(stderr, "there is no case %s\n", what.c_str());
  return 2;
}
