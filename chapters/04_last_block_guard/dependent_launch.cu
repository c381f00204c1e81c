// SPDX-License-Identifier: MIT
// Chapter 04's sum by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>
#include <memory>

#include "04_last_block_guard/launch_cases.cuh"

namespace benchmarks {

namespace {

__global__ void sum_in_one_kernel_dependently(const float* values, std::size_t n, float* partials,
                                              unsigned* counter, float* result) {
  begin_dependent_kernel();
  course::reduce_in_one_kernel<course::acquire_release_guard>(
      course::elements<float>{values}, n, course::plus{}, partials, counter, result);
}

}  // namespace

benchmark_case last_block_sum_by_dependent_launch(const exact_vectors<float>& data,
                                                  const placement& where) {
  require_dependent_launch(sum_in_one_kernel_dependently);
  const std::size_t n = where.elements;
  const unsigned blocks = course::reduction_blocks<course::elements<float>>(
      sum_in_one_kernel_dependently, n, threads_a_block);
  const auto partials = working_memory<float>(blocks);
  const auto counter = std::make_shared<course::arrival_counter>();
  return sum_task(data, where)
      .on_device("last_block_dependent_launch", role::variant,
                 [=, &data](std::size_t input, float* result) {
                   launch_dependent(sum_in_one_kernel_dependently, blocks, threads_a_block,
                                    data.a(where.first(input)), n, partials->data(),
                                    counter->data(), result);
                 });
}

}  // namespace benchmarks
