// SPDX-License-Identifier: MIT
// Kernels that only compute, of which the CPU backend runs a row of threads in one call: every
// thread once, with its own index, its own parameters and its own return.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cuda/atomic>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"

namespace {

// Adds, so that a thread that ran twice shows.
__global__ void add_rank(unsigned* out, unsigned total) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned rank = block * (blockDim.x * blockDim.y * blockDim.z) + in_block;
  if (rank >= total) return;
  out[rank] += rank + 1;
}

__global__ void add_digits(unsigned* out, const unsigned n) {
  const unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < 10; ++i) {
    if (rank >= n) return;
    if (i == rank % 10) return;
    out[rank] += 1;
  }
}

template <class Kernel>
std::vector<unsigned> values_after(Kernel kernel, dim3 blocks, dim3 threads, unsigned size) {
  checked::device_buffer<unsigned> out(size);
  out.fill_bytes(0);
  kernel<<<blocks, threads>>>(out.data(), size);
  CUDA_CHECK(cudaGetLastError());
  return out.to_host();
}

// ---- Kernels that use atomics without a call

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> turn;

// Thread 0 waits for the last thread of its row.
__global__ void wait_for_last(unsigned* out) {
  out[threadIdx.x] += 1;
  if (threadIdx.x == 0) {
    for (; turn != 1;) {
    }
  }
  if (threadIdx.x == blockDim.x - 1) turn = 1;
  out[threadIdx.x] += 1;
}

// So many loads that others get their turn in between.
__global__ void look_often(unsigned* out) {
  unsigned sum = 0;
  for (int i = 0; i < 100; ++i) sum += turn;
  out[threadIdx.y * blockDim.x + threadIdx.x] += 1 + 0 * sum;
}

}  // namespace

TEST_CASE("each thread of each row runs once") {
  const struct {
    dim3 blocks, threads;
  } shapes[] = {{1, 1},         {3, 33},           {1000, 7},      {70000, 1},
                {5, {1, 8, 1}}, {4, {16, 16, 1}},  {2, {3, 5, 7}}, {{9, 3, 2}, {8, 2, 2}},
                {2048, 256},    {{1, 65, 1}, 1024}};
  for (const auto& [blocks, threads] : shapes) {
    const unsigned size = blocks.x * blocks.y * blocks.z * threads.x * threads.y * threads.z;
    for (const unsigned total : {size, size - 1, size / 2 + 1}) {
      CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z, total);
      const std::vector<unsigned> got = values_after(add_rank, blocks, threads, total);
      std::size_t wrong = 0;
      for (unsigned rank = 0; rank < total; ++rank) wrong += got[rank] != rank + 1;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a thread that returns from a loop ends no other") {
  const std::vector<unsigned> got = values_after(add_digits, 40, 128, 5000);
  std::size_t wrong = 0;
  for (unsigned rank = 0; rank < got.size(); ++rank) wrong += got[rank] != rank % 10;
  CHECK(wrong == 0);
}

TEST_CASE("a thread waits for another one of its row") {
  checked::device_buffer<unsigned> out(64);
  out.fill_bytes(0);
  wait_for_last<<<1, 64>>>(out.data());
  CUDA_CHECK(cudaGetLastError());
  CHECK(out.to_host() == std::vector<unsigned>(64, 2));
}

TEST_CASE("a thread that gives its turn to others runs once, and so do they") {
  for (const dim3 threads : {dim3(64), dim3(8, 4), dim3(1, 5)}) {
    checked::device_buffer<unsigned> out(threads.x * threads.y);
    out.fill_bytes(0);
    look_often<<<1, threads>>>(out.data());
    CUDA_CHECK(cudaGetLastError());
    CHECK(out.to_host() == std::vector<unsigned>(threads.x * threads.y, 1));
  }
}
