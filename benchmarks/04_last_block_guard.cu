// SPDX-License-Identifier: MIT
// Chapter 04's reductions in one kernel beside chapter 03's in two, CUB and cuBLAS.
#include "04_last_block_guard/last_block_guard.cuh"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "exact_vectors.cuh"
#include "reduction_contenders.cuh"
#include "session.hpp"
#include "two_kernel_contenders.cuh"

namespace benchmarks {

namespace {

template <class Guard, class T, class Operation>
contender last_block_reduction(const std::string& name, const reduction_task<T>& task,
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
contender last_block_dot(const std::string& name, const exact_vectors<T>& data,
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
    const contest_description sum = describe("04", "sum", "float", where);
    const auto sum_with = [&]<class Guard>(const char* name, Guard,
                                           unsigned threads = threads_a_block) {
      return last_block_reduction<Guard>(name, sum_task(data, where), course::plus{}, data, where,
                                         threads);
    };
    std::vector<contender> sums = {sum_with("last_block", acquire_release_guard{}),
                                   sum_with("last_block_512_threads", acquire_release_guard{}, 512),
                                   sum_with("shared_flag", course::shared_flag_guard{}),
                                   sum_with("syncthreads_or", course::syncthreads_or_guard{}),
                                   two_kernel_sum("two_kernels", role::peer, data, where)};
    add_cub_sum(run, sums, sum, data, where);
    run.hold(sum, std::move(sums));

    const contest_description minimum = describe("04", "minimum", "float", where);
    std::vector<contender> minima = {
        last_block_reduction<acquire_release_guard>("last_block", minimum_task(data, where),
                                                    course::minimum{}, data, where),
        two_kernel_minimum("two_kernels", role::peer, data, where)};
    add_cub_minimum(run, minima, minimum, data, where);
    run.hold(minimum, std::move(minima));

    const contest_description dot = describe("04", "dot product", "float", where);
    std::vector<contender> dots = {last_block_dot("last_block", data, where),
                                   two_kernel_dot("two_kernels", role::peer, data, where)};
    add_library_dots(run, dots, dot, data, where);
    run.hold(dot, std::move(dots));
  }
}

const chapter_benchmark registered("04", last_block_reductions);

}  // namespace

}  // namespace benchmarks
