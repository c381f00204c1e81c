// SPDX-License-Identifier: MIT
// Work stealing as only the CPU backend has it: one block a multiprocessor, both names of the
// function.
#include <catch2/catch_test_macros.hpp>
#include <cuda/work_stealing>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"

namespace {

enum class name { of_cccl_3_0, of_cccl_3_2 };

template <name which>
__global__ void visit_all(unsigned* visits, unsigned* started) {
  if (threadIdx.x == 0) atomicAdd(started, 1);
  const auto visit = [=](dim3 index) {
    if (threadIdx.x == 0) atomicAdd(visits + index.x, 1);
  };
  if constexpr (which == name::of_cccl_3_0) {
    cuda::for_each_canceled_block<1>(visit);
  } else {
    cuda::device::for_each_canceled_block<1>(visit);
  }
}

template <name which>
void check_stealing() {
  const auto multiprocessors = static_cast<unsigned>(checked::describe_device().multiprocessors);
  const unsigned blocks = 50 * multiprocessors;
  checked::device_buffer<unsigned> visits(std::vector<unsigned>(blocks, 0));
  checked::device_buffer<unsigned> started(std::vector<unsigned>{0});
  visit_all<which><<<blocks, 32>>>(visits.data(), started.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(visits.to_host() == std::vector<unsigned>(blocks, 1));
  // A block ends only when there is no other to steal, so no multiprocessor starts a second one.
  REQUIRE(started.to_host()[0] >= 1);
  REQUIRE(started.to_host()[0] <= multiprocessors);
}

struct progress {
  unsigned begun;
  unsigned done;
  unsigned done_at_the_end;  // of the tile that was begun first
};

// The tile that is begun first goes on until all others but one are done, and then looks on for a
// while.
__global__ void count_others_done(progress* of) {
  constexpr int looks = 10'000;
  cuda::device::for_each_canceled_block<1>([=](dim3) {
    if (atomicAdd(&of->begun, 1) != 0) {
      atomicAdd(&of->done, 1);
      return;
    }
    while (atomicAdd(&of->done, 0) + 2 < gridDim.x) {
    }
    for (int look = 0; look < looks && atomicAdd(&of->done, 0) + 1 < gridDim.x; ++look) {
    }
    of->done_at_the_end = atomicAdd(&of->done, 0);
  });
}

}  // namespace

TEST_CASE("a block that works on a tile holds the next one in reserve") {
  if (checked::describe_device().multiprocessors < 2) SKIP("the others need a multiprocessor");
  constexpr unsigned blocks = 400;
  checked::device_buffer<progress> of(std::vector<progress>{{0, 0, 0}});
  count_others_done<<<blocks, 1>>>(of.data());
  CUDA_CHECK(cudaGetLastError());
  const progress got = of.to_host()[0];
  REQUIRE(got.done == blocks - 1);
  // libcu++ asks before it calls the function, so no other block can take that one.
  REQUIRE(got.done_at_the_end == blocks - 2);
}

TEST_CASE("for_each_canceled_block under both of its names cancels blocks that have not started") {
  check_stealing<name::of_cccl_3_0>();
  check_stealing<name::of_cccl_3_2>();
}
