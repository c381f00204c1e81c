// SPDX-License-Identifier: MIT
// Tests of which one runs a kernel that dies: first_fault_test.py looks at what the rest does.
#include <catch2/catch_test_macros.hpp>

#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace {

__global__ void fill(int* out, int count) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index <= count + 1000) out[index] = index;  // mark: overrun
}

void expect_filled(int count) {
  lab::device_buffer<int> out(static_cast<std::size_t>(count));
  fill<<<64, 64>>>(out.data(), count);
  CUDA_CHECK(cudaDeviceSynchronize());
  CHECK(out.to_host().back() == count - 1);
}

}  // namespace

TEST_CASE("1 nothing is wrong yet") { CHECK(lab::device_buffer<int>(4).size() == 4); }

TEST_CASE("2 the kernel overruns") {
  SECTION("a little") { expect_filled(1); }
  SECTION("more") { expect_filled(10); }
  SECTION("most") { expect_filled(20); }
}

TEST_CASE("3 innocent") { expect_filled(3000); }
TEST_CASE("4 innocent as well") { CHECK(lab::device_buffer<int>(4).size() == 4); }
