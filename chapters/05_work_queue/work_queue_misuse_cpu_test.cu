// SPDX-License-Identifier: MIT
// What a broken precondition of the queue looks like on the CPU backend. On a GPU a fetch by some
// threads hangs, or gives some of them an old item, and a stream that is no more may do anything.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/work_queue.cuh"
#include "05_work_queue/work_queue_memory.cuh"
#include "lab/check.cuh"

namespace {

using course::tile_index;

__global__ void half_of_the_block_fetches(course::work_queue<tile_index> queue) {
  if (threadIdx.x % 2 == 0) {
    (void)queue.fetch();
  } else {
    __syncthreads();
  }
}

__global__ void half_of_a_warp_fetches(course::work_queue<tile_index> queue) {
  if (threadIdx.x % 32 < 16) {
    (void)queue.fetch_by_warp();
  } else {
    __syncwarp();
  }
}

template <class Launch>
void check_launch_fails(Launch launch) {
  course::work_queue_memory<tile_index> memory(std::vector<tile_index>(10, {1, 2}));
  launch(memory.queue());
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  CHECK(cudaDeviceReset() == cudaSuccess);
}

}  // namespace

TEST_CASE("a fetch by some threads of a block is reported") {
  check_launch_fails([](const auto& queue) { half_of_the_block_fetches<<<2, 64>>>(queue); });
}

TEST_CASE("a queue's memory in a stream that was destroyed is refused") {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  course::work_queue_memory<tile_index> memory(10);
  CHECK_NOTHROW(memory.reset(stream));
  CHECK_NOTHROW(memory.clear(stream));
  CHECK(memory.size(stream) == 0);
  CUDA_CHECK(cudaStreamDestroy(stream));
  CHECK_THROWS_AS(memory.reset(stream), lab::cuda_error);
  CHECK_THROWS_AS(memory.clear(stream), lab::cuda_error);
  CHECK_THROWS_AS(memory.size(stream), lab::cuda_error);
}

TEST_CASE("a fetch by some lanes of a warp is reported") {
  check_launch_fails([](const auto& queue) { half_of_a_warp_fetches<<<2, 64>>>(queue); });
}
