// SPDX-License-Identifier: MIT
// Chapter 01's vector add by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>

#include "01_vector_add/fast_vector_add.cuh"
#include "01_vector_add/vector_add_cases.cuh"

namespace benchmarks {

namespace {

// The same loads and stores, by blocks that are there when the kernel before ends.
__global__ void add_dependently(const float* a, const float* b, float* c, std::size_t n) {
  begin_dependent_kernel();
  course::add_packets(a, b, c, n);
}

}  // namespace

add_function<float> sixteen_bytes_by_dependent_launch(unsigned threads) {
  require_dependent_launch(add_dependently);
  return [=](const float* a, const float* b, float* sum, std::size_t n) {
    launch_dependent(add_dependently, {course::sixteen_bytes_blocks<float>(n, threads), threads},
                     nullptr, a, b, sum, n);
  };
}

}  // namespace benchmarks
