// SPDX-License-Identifier: MIT
// Chapter 04's reductions in one kernel beside chapter 03's in two, CUB and cuBLAS.
#include "04_last_block_guard/fast_last_block_guard.cuh"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "03_two_kernel_reduction/two_kernel_cases.cuh"
#include "04_last_block_guard/launch_cases.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"

namespace benchmarks {

namespace {

template <class Guard, class T, class Operation>
benchmark_case last_block_reduction(const std::string& name, const reduction_task<T>& task,
                                    Operation operation, const exact_vectors<T>& data,
                                    const placement& where, unsigned threads = threads_a_block) {
  const std::size_t n = where.elements;
  const unsigned blocks = course::reduction_blocks<course::elements<T>>(
      course::reduce_elements_in_one_kernel<Guard, T, Operation>, n, threads);
  const auto partials = working_memory<T>(blocks);
  const auto counter = std::make_shared<course::arrival_counter>();
  return task.on_device(name, role::variant, [=, &data](std::size_t input, T* result) {
    course::last_block_reduction<Guard>(data.a(where.first(input)), n, operation, partials->data(),
                                        *counter, result, blocks, threads);
  });
}

template <class T>
benchmark_case last_block_dot(const std::string& name, const exact_vectors<T>& data,
                              const placement& where) {
  using guard = course::acquire_release_guard;
  const std::size_t n = where.elements;
  const unsigned blocks = course::reduction_blocks<course::products<T>>(
      course::reduce_products_in_one_kernel<guard, T>, n, threads_a_block);
  const auto partials = working_memory<T>(blocks);
  const auto counter = std::make_shared<course::arrival_counter>();
  return dot_task(data, where)
      .on_device(name, role::variant, [=, &data](std::size_t input, T* result) {
        const std::size_t first = where.first(input);
        course::last_block_dot<guard>(data.a(first), data.b(first), n, partials->data(), *counter,
                                      result, blocks, threads_a_block);
      });
}

void last_block_reductions(session& run) {
  using course::acquire_release_guard;
  const std::vector<placement> places =
      run.placements("04", "reductions of float", sizeof(float), 2 * sizeof(float));
  const exact_vectors<float> data(longest(places), 4);
  for (const placement& where : places) {
    const comparison_description sum = describe("04", "sum", "float", where);
    const auto sum_with = [&]<class Guard>(const char* name, Guard,
                                           unsigned threads = threads_a_block) {
      return last_block_reduction<Guard>(name, sum_task(data, where), course::plus{}, data, where,
                                         threads);
    };
    std::vector<benchmark_case> sums = {
        sum_with("last_block", acquire_release_guard{}),
        sum_with("last_block_512_threads", acquire_release_guard{}, 512),
        sum_with("shared_flag", course::shared_flag_guard{}),
        sum_with("syncthreads_or", course::syncthreads_or_guard{}),
        two_kernel_sum("two_kernels", role::peer, data, where)};
    add_cub_sum(run, sums, sum, data, where);
    run.measure(sum, std::move(sums));

    const comparison_description minimum = describe("04", "minimum", "float", where);
    std::vector<benchmark_case> minima = {
        last_block_reduction<acquire_release_guard>("last_block", minimum_task(data, where),
                                                    course::minimum{}, data, where),
        two_kernel_minimum("two_kernels", role::peer, data, where)};
    add_cub_minimum(run, minima, minimum, data, where);
    run.measure(minimum, std::move(minima));

    const comparison_description dot = describe("04", "dot product", "float", where);
    std::vector<benchmark_case> dots = {last_block_dot("last_block", data, where),
                                        two_kernel_dot("two_kernels", role::peer, data, where)};
    add_library_dots(run, dots, dot, data, where);
    run.measure(dot, std::move(dots));
  }
}

benchmark_case last_block_sum_in_a_graph(const exact_vectors<float>& data, const placement& where) {
  using guard = course::acquire_release_guard;
  const std::size_t n = where.elements;
  const unsigned blocks = course::reduction_blocks<course::elements<float>>(
      course::reduce_elements_in_one_kernel<guard, float, course::plus>, n, threads_a_block);
  const auto partials = working_memory<float>(blocks);
  const auto counter = std::make_shared<course::arrival_counter>();
  return graph_case("last_block_graph", role::variant, sum_task(data, where),
                    [=, &data](float* result, cudaStream_t stream) {
                      course::last_block_reduction<guard>(data.a(0), n, course::plus{},
                                                          partials->data(), *counter, result,
                                                          blocks, threads_a_block, stream);
                    });
}

void last_block_launches(session& run) {
  const std::vector<placement> places = cached_placements(run, "04");
  const exact_vectors<float> data(longest(places), 4);
  for (const placement& where : places) {
    const comparison_description sum = describe("04", "sum by launch", "float", where);
    std::vector<benchmark_case> cases = {last_block_reduction<course::acquire_release_guard>(
        "last_block", sum_task(data, where), course::plus{}, data, where)};
    run.add_peer(cases, sum, "last_block_dependent_launch",
                 [&] { return last_block_sum_by_dependent_launch(data, where); });
    run.add_peer(cases, sum, "last_block_dependent_graph",
                 [&] { return last_block_sum_by_dependent_launch_in_a_graph(data, where); });
    run.add_peer(cases, sum, "first_warp_dependent_graph",
                 [&] { return first_warp_sum_by_dependent_launch_in_a_graph(data, where); });
    run.add_peer(cases, sum, "first_warp_early_graph",
                 [&] { return first_warp_sum_that_reads_early_in_a_graph(data, where); });
    run.add_peer(cases, sum, "last_block_graph",
                 [&] { return last_block_sum_in_a_graph(data, where); });
    add_two_kernel_launches(run, cases, role::peer, sum, data, where);
    add_cub_launches(run, cases, sum, data, where);
    run.measure(sum, std::move(cases));
  }
}

const chapter_benchmark kernels("04", "kernels", last_block_reductions);
const chapter_benchmark launches("04", "launches", last_block_launches);

}  // namespace

}  // namespace benchmarks
