// SPDX-License-Identifier: MIT
// That a counter works in the stream that it is given: another one would answer a stream that is no
// more. The CPU backend refuses such a stream; CUDA leaves open what becomes of it.
#include <catch2/catch_test_macros.hpp>

#include "04_last_block_guard/last_block_guard.cuh"
#include "lab/check.cuh"

TEST_CASE("a counter in a stream that was destroyed is refused") {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  course::arrival_counter counter(stream);
  CHECK_NOTHROW(counter.reset(stream));
  CHECK(counter.value(stream) == 0);
  CUDA_CHECK(cudaStreamDestroy(stream));
  CHECK_THROWS_AS(course::arrival_counter(stream), lab::cuda_error);
  CHECK_THROWS_AS(counter.reset(stream), lab::cuda_error);
  CHECK_THROWS_AS(counter.value(stream), lab::cuda_error);
}
