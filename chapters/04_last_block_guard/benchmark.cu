// SPDX-License-Identifier: MIT
// Chapter 04's reductions in one kernel beside chapter 03's in two, CUB and cuBLAS.
#include "04_last_block_guard/fast_last_block_guard.cuh"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "03_two_kernel_reduction/two_kernel_cases.cuh"
#include "04_last_block_guard/launch_cases.cuh"
#include "benchmark/call_graph.hpp"
#include "benchmark/chain.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"

namespace benchmarks {

namespace {

// A reduction of n values, with all that it needs.
template <class T, class Operation = course::plus, class Guard = course::acquire_release_guard>
reduce_function<T> last_block(std::size_t n, unsigned threads = threads_a_block) {
  const unsigned blocks = course::reduction_blocks<course::elements<T>>(
      course::reduce_elements_in_one_kernel<Guard, T, Operation>, n, threads);
  const auto partials = working_memory<T>(blocks);
  const auto counter = std::make_shared<course::arrival_counter>();
  return [=](const T* values, T* result, cudaStream_t stream) {
    course::last_block_reduction<Guard>(values, n, Operation{}, partials->data(), *counter, result,
                                        blocks, threads, stream);
  };
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

template <class T>
std::vector<benchmark_case> sums(const exact_vectors<T>& data, const placement& where) {
  const auto variant = [&](const char* name, const reduce_function<T>& sum) {
    return summing<T>(name, role::variant, data, where, sum);
  };
  const std::size_t n = where.elements;
  return {variant("last_block", last_block<T>(n)),
          variant("last_block_512_threads", last_block<T>(n, 512)),
          two_kernel_sum("two_kernels", role::peer, data, where)};
}

void last_block_reductions(session& run) {
  using course::plus;
  const std::vector<placement> places =
      run.placements("04", "reductions of float", sizeof(float), 2 * sizeof(float));
  const exact_vectors<float> data(longest(places), 4);
  for (const placement& where : places) {
    const comparison_description sum = describe("04", "sum", "float", where);
    const std::size_t n = where.elements;
    std::vector<benchmark_case> all = sums(data, where);
    all.push_back(summing<float>("shared_flag", role::variant, data, where,
                                 last_block<float, plus, course::shared_flag_guard>(n)));
    all.push_back(summing<float>("syncthreads_or", role::variant, data, where,
                                 last_block<float, plus, course::syncthreads_or_guard>(n)));
    add_cub_sums(run, all, sum, data, where);
    run.measure(sum, std::move(all));

    const comparison_description minimum = describe("04", "minimum", "float", where);
    std::vector<benchmark_case> minima = {
        minimum_task(data, where)
            .on_device("last_block", role::variant,
                       [&data, where, smallest = last_block<float, course::minimum>(n)](
                           std::size_t input, float* result) {
                         smallest(data.a(where.first(input)), result, nullptr);
                       }),
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

// Of the other types, at fewer sizes.
template <class T>
void sums_of_type(session& run, const std::string& type) {
  constexpr std::size_t most = std::size_t{1} << 28;
  std::vector<placement> places = run.placements("04", "sum of " + type, sizeof(T), 2 * sizeof(T));
  std::erase_if(places, [](const placement& where) {
    return where.elements > most || std::countr_zero(where.elements) % 2 != 0;
  });
  const exact_vectors<T> data(longest(places), 4);
  for (const placement& where : places) {
    const comparison_description of = describe("04", "sum", type, where);
    std::vector<benchmark_case> cases = sums(data, where);
    add_cub_sums(run, cases, of, data, where);
    run.measure(of, std::move(cases));
  }
}

void sums_of_other_types(session& run) {
  sums_of_type<std::int32_t>(run, "int32");
  sums_of_type<std::int64_t>(run, "int64");
  sums_of_type<double>(run, "double");
}

// A sum becomes the first element that the next call adds up; the other elements are 1.
void sums_in_a_chain(session& run) {
  for (const placement& where : chain_placements(run)) {
    const comparison_description of = describe("04", "sum in a chain", "float", where);
    const std::size_t n = where.elements;
    const std::vector<float> ones(n, 1);
    std::vector<float> expected = ones;
    expected[0] = static_cast<float>(1 + calls_of_a_graph * (n - 1));
    const chain<float> sums(ones, expected);
    std::vector<benchmark_case> cases;
    const auto add = [&](const std::string& name, role part, auto make) {
      sums.add(run, cases, of, name, part, [=] { return make(n); });
    };
    add("last_block", role::variant, [](std::size_t count) { return last_block<float>(count); });
    add("last_block_dependent_launch", role::variant,
        [](std::size_t count) { return dependent_last_block_sum(count); });
    add("first_warp_dependent_launch", role::variant, dependent_first_warp_sum);
    add("two_kernels", role::peer,
        [](std::size_t count) { return two_kernel_sum_of<float>(count); });
    add("cub_device_reduce_sum", role::peer, cub_sum<float>);
    add("cub_sum_not_guaranteed", role::peer, cub_sum_not_guaranteed<float>);
    run.measure(of, std::move(cases));
  }
}

void last_block_launches(session& run) {
  const std::vector<placement> places = cached_placements(run, "04");
  const exact_vectors<float> data(longest(places), 4);
  for (const placement& where : places) {
    const comparison_description sum = describe("04", "sum by launch", "float", where);
    const std::size_t n = where.elements;
    std::vector<benchmark_case> cases = {
        summing<float>("last_block", role::variant, data, where, last_block<float>(n))};
    run.add_peer(cases, sum, "last_block_dependent_launch",
                 [&] { return last_block_sum_by_dependent_launch(data, where); });
    run.add_peer(cases, sum, "last_block_dependent_graph",
                 [&] { return last_block_sum_by_dependent_launch_in_a_graph(data, where); });
    run.add_peer(cases, sum, "first_warp_dependent_graph",
                 [&] { return first_warp_sum_by_dependent_launch_in_a_graph(data, where); });
    run.add_peer(cases, sum, "first_warp_early_graph",
                 [&] { return first_warp_sum_that_reads_early_in_a_graph(data, where); });
    run.add_peer(cases, sum, "last_block_graph", [&] {
      return graph_case("last_block_graph", role::variant, sum_task(data, where),
                        [&data, total = last_block<float>(n)](float* result, cudaStream_t stream) {
                          total(data.a(0), result, stream);
                        });
    });
    add_two_kernel_launches(run, cases, role::peer, sum, data, where);
    add_cub_launches(run, cases, sum, data, where);
    run.measure(sum, std::move(cases));
  }
}

const chapter_benchmark kernels("04", "kernels", last_block_reductions);
const chapter_benchmark types("04", "kernels", sums_of_other_types);
const chapter_benchmark chains("04", "kernels", sums_in_a_chain);
const chapter_benchmark launches("04", "launches", last_block_launches);

}  // namespace

}  // namespace benchmarks
