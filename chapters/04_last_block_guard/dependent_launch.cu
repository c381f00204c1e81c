// SPDX-License-Identifier: MIT
// Chapter 04's sum by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "04_last_block_guard/launch_cases.cuh"

namespace benchmarks {

namespace {

__global__ void sum_in_one_kernel_dependently(const float* values, std::size_t n, float* partials,
                                              unsigned* counter, float* result) {
  begin_dependent_kernel();
  course::reduce_in_one_kernel<course::acquire_release_guard>(
      course::elements<float>{values}, n, course::plus{}, partials, counter, result);
}

// If `reads_early`, it reads the values before it waits, which no kernel of the row may write.
template <bool reads_early>
__global__ void sum_and_merge_in_first_warp_dependently(const float* values, std::size_t n,
                                                        float* partials, unsigned* counter,
                                                        float* result) {
  __shared__ float shared[course::largest_warp_count];
  let_next_kernel_start();
  if (!reads_early) wait_for_kernel_before();
  const float share = course::block_share(course::elements<float>{values}, n, blockIdx.x, gridDim.x,
                                          course::plus{}, shared);
  if (reads_early) wait_for_kernel_before();
  if (threadIdx.x < course::warp_size) {
    course::merge_in_first_warp(share, course::plus{}, partials, counter, result);
  }
}

// What calls one of these kernels in a stream.
template <class Kernel>
reduce_function<float> dependent_sum(Kernel* kernel, std::size_t n, unsigned blocks,
                                     unsigned threads) {
  require_dependent_launch(kernel);
  const auto partials = working_memory<float>(blocks);
  const auto counter = std::make_shared<course::arrival_counter>();
  return [=](const float* values, float* result, cudaStream_t stream) {
    launch_dependent(kernel, {blocks, threads}, stream, values, n, partials->data(),
                     counter->data(), result);
  };
}

template <bool reads_early>
auto first_warp_sum(std::size_t n) {
  const auto kernel = sum_and_merge_in_first_warp_dependently<reads_early>;
  const unsigned blocks =
      course::reduction_blocks<course::elements<float>>(kernel, n, threads_a_block);
  return dependent_sum(kernel, n, std::min(blocks, course::most_blocks_for_first_warp),
                       threads_a_block);
}

benchmark_case in_a_graph(const std::string& name, const reduce_function<float>& sum,
                          const exact_vectors<float>& data, const placement& where) {
  return graph_case(
      name, role::variant, sum_task(data, where),
      [=, &data](float* result, cudaStream_t stream) { sum(data.a(0), result, stream); });
}

}  // namespace

reduce_function<float> dependent_last_block_sum(std::size_t n, unsigned threads) {
  const auto kernel = sum_in_one_kernel_dependently;
  return dependent_sum(
      kernel, n, course::reduction_blocks<course::elements<float>>(kernel, n, threads), threads);
}

reduce_function<float> dependent_first_warp_sum(std::size_t n) { return first_warp_sum<false>(n); }

benchmark_case last_block_sum_by_dependent_launch(const exact_vectors<float>& data,
                                                  const placement& where) {
  return summing("last_block_dependent_launch", role::variant, data, where,
                 dependent_last_block_sum(where.elements));
}

benchmark_case last_block_sum_by_dependent_launch_in_a_graph(const exact_vectors<float>& data,
                                                             const placement& where) {
  return in_a_graph("last_block_dependent_graph", dependent_last_block_sum(where.elements, 512),
                    data, where);
}

benchmark_case first_warp_sum_by_dependent_launch_in_a_graph(const exact_vectors<float>& data,
                                                             const placement& where) {
  return in_a_graph("first_warp_dependent_graph", first_warp_sum<false>(where.elements), data,
                    where);
}

benchmark_case first_warp_sum_that_reads_early_in_a_graph(const exact_vectors<float>& data,
                                                          const placement& where) {
  return in_a_graph("first_warp_early_graph", first_warp_sum<true>(where.elements), data, where);
}

}  // namespace benchmarks
