// SPDX-License-Identifier: MIT
// Kernels on all multiprocessors of the CPU backend, beside a plain loop of one host thread over
// the same arrays: whether a kernel without barriers is as good as a loop, and what nine barriers
// cost. Medians, all of them run in turn, of work whose result is checked.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "benchmark/cpu_backend/measuring.hpp"
#include "lab/check.cuh"
#include "lab/program.hpp"
#include "lab/timing.hpp"

namespace {

constexpr const char* program = "all_cores_benchmark";
constexpr unsigned elements = 1 << 22;
constexpr unsigned block = 256;
constexpr unsigned blocks = elements / block;
constexpr int runs = 15;

__global__ void vector_add(const int* a, const int* b, int* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Nine barriers: one before each step of the tree, and one at its end.
__global__ void block_sums(const int* a, int* sums) {
  __shared__ int partial[block];
  partial[threadIdx.x] = a[blockIdx.x * block + threadIdx.x];
  for (unsigned width = block / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
  }
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__attribute__((noinline)) void serial_sums(const int* a, int* sums) {
  for (unsigned i = 0; i < blocks; ++i) {
    sums[i] = std::accumulate(a + i * block, a + (i + 1) * block, 0);
  }
}

struct subject {
  const char* name;
  std::function<void()> kernel;
  std::function<void()> loop;
  std::function<bool()> is_right;
};

void measure(const subject& of, int* result) {
  for (const auto& work : {of.kernel, of.loop}) {
    std::fill(result, result + elements, -1);
    work();
    require(of.is_right(), "a result is wrong, so its time means nothing");
  }
  std::vector<double> times[2];
  for (int run = 0; run < runs; ++run) {
    for (const int k : {0, 1}) {
      const int which = (run + k) % 2;
      times[which].push_back(milliseconds(which == 0 ? of.kernel : of.loop));
    }
  }
  const double kernel = lab::summarize(times[0]).median_ms;
  const double loop = lab::summarize(times[1]).median_ms;
  std::printf("%-28s %10.2f %12.2f %8.2f\n", of.name, kernel, loop, kernel / loop);
}

int run() {
  int *a = nullptr, *b = nullptr, *c = nullptr;
  for (int** each : {&a, &b, &c}) CUDA_CHECK(cudaMallocManaged(each, elements * sizeof(int)));
  for (unsigned i = 0; i < elements; ++i) {
    a[i] = static_cast<int>(i % 1000);
    b[i] = static_cast<int>(i % 7);
  }
  const auto finish = [] { CUDA_CHECK(cudaDeviceSynchronize()); };
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("\n2^22 ints in blocks of %u, %d multiprocessors on %u cores, medians of %d runs\n",
              block, properties.multiProcessorCount, std::thread::hardware_concurrency(), runs);
  std::printf("%-28s %10s %12s %8s\n", "", "kernel, ms", "one loop, ms", "ratio");
  measure({"vector add",
           [&] {
             vector_add<<<blocks, block>>>(a, b, c, elements);
             finish();
           },
           [&] { serial_add(a, b, c, elements); },
           [&] {
             for (unsigned i = 0; i < elements; ++i) {
               if (c[i] != a[i] + b[i]) return false;
             }
             return true;
           }},
          c);
  measure({"sums of blocks, 9 barriers",
           [&] {
             block_sums<<<blocks, block>>>(a, c);
             finish();
           },
           [&] { serial_sums(a, c); },
           [&] {
             std::vector<int> expected(blocks);
             serial_sums(a, expected.data());
             return std::equal(expected.begin(), expected.end(), c);
           }},
          c);
  for (int* each : {a, b, c}) CUDA_CHECK(cudaFree(each));
  return lab::exit_right;
}

}  // namespace

int main() { return lab::exit_status_of(program, run); }
