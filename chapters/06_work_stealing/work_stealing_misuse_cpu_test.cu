// SPDX-License-Identifier: MIT
// What a broken precondition of for_each_canceled_block looks like on the CPU backend. On a GPU all
// of these are undefined.
#include <catch2/catch_test_macros.hpp>

#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/check.cuh"

namespace {

__global__ void calls_it_twice() {
  course::for_each_canceled_block<1>([](dim3) {});
  course::for_each_canceled_block<1>([](dim3) {});
}

__global__ void half_of_the_block_calls_it() {
  if (threadIdx.x % 2 == 0) {
    course::for_each_canceled_block<1>([](dim3) {});
  } else {
    __syncthreads();
  }
}

__global__ void rank_1_in_a_flat_block() {
  course::for_each_canceled_block<1>([](dim3) {});
}

template <class Launch>
void check_launch_fails(Launch launch) {
  launch();
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceReset() == cudaSuccess);
}

}  // namespace

TEST_CASE("a second call in one block is reported") {
  check_launch_fails([] { calls_it_twice<<<20, 32>>>(); });
}

TEST_CASE("a call by some threads of a block is reported") {
  check_launch_fails([] { half_of_the_block_calls_it<<<20, 32>>>(); });
}

TEST_CASE("a block of more dimensions than the rank is reported") {
  check_launch_fails([] { rank_1_in_a_flat_block<<<20, dim3(8, 8)>>>(); });
}
