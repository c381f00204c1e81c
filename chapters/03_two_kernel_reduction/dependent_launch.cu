// SPDX-License-Identifier: MIT
// Chapter 03's sum by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>

#include "03_two_kernel_reduction/launch_cases.cuh"

namespace benchmarks {

namespace {

__global__ void sum_blocks_dependently(const float* values, std::size_t n, float* partials) {
  begin_dependent_kernel();
  course::store_block_share(course::elements<float>{values}, n, course::plus{}, partials);
}

__global__ void sum_partials_dependently(const float* partials, std::size_t count, float* result) {
  begin_dependent_kernel();
  course::store_block_share(course::shares<float>{partials}, count, course::plus{}, result);
}

}  // namespace

benchmark_case two_kernel_sum_by_dependent_launch(role part, const exact_vectors<float>& data,
                                                  const placement& where) {
  require_dependent_launch(sum_blocks_dependently);
  const std::size_t n = where.elements;
  const unsigned blocks =
      course::reduction_blocks<course::elements<float>>(sum_blocks_dependently, n, threads_a_block);
  const auto partials = working_memory<float>(blocks);
  return sum_task(data, where)
      .on_device("two_kernels_dependent_launch", part,
                 [=, &data](std::size_t input, float* result) {
                   const float* const values = data.a(where.first(input));
                   launch_dependent(sum_blocks_dependently, {blocks, threads_a_block}, nullptr,
                                    values, n, partials->data());
                   launch_dependent(sum_partials_dependently, {1, threads_a_block}, nullptr,
                                    partials->data(), std::size_t{blocks}, result);
                 });
}

}  // namespace benchmarks
