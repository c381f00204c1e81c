// SPDX-License-Identifier: MIT
// A __shared__ variable outside of every function. In a file of its own, because the race checker
// refuses it.
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

}  // namespace

TEST_CASE("a shared variable of the file is one for each block") {
  constexpr unsigned blocks = 50, threads = 96;
  testing::poisoned_output<unsigned> results(blocks);
  use_of_file<<<blocks, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned> expected;
  for (unsigned block = 0; block < blocks; ++block) expected.push_back(3000 + block);
  REQUIRE(results.to_host() == expected);
}
