// SPDX-License-Identifier: MIT
// __shared__ variables outside of every function. In a file of its own, because all of a program's
// dynamic shared memory has one address under the race checker if there is such an array.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "checked_runtime/check.cuh"
#include "testing/poisoned_output.cuh"

namespace {

__shared__ unsigned of_file;

__device__ void write_of_file() { of_file = 3000 + blockIdx.x; }

__global__ void use_of_file(unsigned* results) {
  if (threadIdx.x == 0) write_of_file();
  // Others run meanwhile.
  for (int i = 0; i < 20; ++i) __syncthreads();
  if (threadIdx.x == blockDim.x - 1) results[blockIdx.x] = of_file;
}

// Dynamic ones, by two names.
extern __shared__ unsigned char bytes_of_launch[];
namespace inner {
extern __shared__ unsigned rows_of_launch[][2];
}

__device__ unsigned in_next_row() {
  return inner::rows_of_launch[(threadIdx.x + 1) % blockDim.x][1];
}

__global__ void use_extern_of_file(unsigned* results) {
  inner::rows_of_launch[threadIdx.x][0] = 7;
  inner::rows_of_launch[threadIdx.x][1] = 1000 * blockIdx.x + threadIdx.x;
  // Others run meanwhile.
  for (int i = 0; i < 20; ++i) __syncthreads();
  unsigned mine = 0;
  for (int i = 0; i < 4; ++i) mine |= unsigned{bytes_of_launch[8 * threadIdx.x + i]} << (8 * i);
  results[blockIdx.x * blockDim.x + threadIdx.x] = mine * 1000000 + in_next_row();
}

}  // namespace

TEST_CASE("an extern shared array of the file is the running block's") {
  constexpr unsigned blocks = 50, threads = 96;
  testing::poisoned_output<unsigned> results(blocks * threads);
  for (int launch = 0; launch < 2; ++launch) {
    use_extern_of_file<<<blocks, threads, threads * 2 * sizeof(unsigned)>>>(results.data());
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned> expected;
    for (unsigned block = 0; block < blocks; ++block) {
      for (unsigned i = 0; i < threads; ++i) {
        expected.push_back(7000000 + 1000 * block + (i + 1) % threads);
      }
    }
    REQUIRE(results.to_host() == expected);
  }
}

TEST_CASE("a shared variable of the file is one for each block") {
  constexpr unsigned blocks = 50, threads = 96;
  testing::poisoned_output<unsigned> results(blocks);
  use_of_file<<<blocks, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned> expected;
  for (unsigned block = 0; block < blocks; ++block) expected.push_back(3000 + block);
  REQUIRE(results.to_host() == expected);
}
