// SPDX-License-Identifier: MIT
// Chapter 03's reductions, which a second kernel finishes, next to CUB and cuBLAS.
#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"

#include <cstddef>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "03_two_kernel_reduction/launch_cases.cuh"
#include "03_two_kernel_reduction/two_kernel_cases.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"

namespace benchmarks {

namespace {

void two_kernel_reductions(session& run) {
  const std::vector<placement> places =
      run.placements("03", "reductions of float", sizeof(float), 2 * sizeof(float));
  const exact_vectors<float> data(longest(places), 3);
  for (const placement& where : places) {
    const comparison_description sum = describe("03", "sum", "float", where);
    std::vector<benchmark_case> sums = {
        two_kernel_sum("two_kernels", role::variant, data, where),
        two_kernel_sum("two_kernels_512_threads", role::variant, data, where, 512)};
    add_cub_sums(run, sums, sum, data, where);
    run.measure(sum, std::move(sums));

    const comparison_description minimum = describe("03", "minimum", "float", where);
    std::vector<benchmark_case> minima = {
        two_kernel_minimum("two_kernels", role::variant, data, where)};
    add_cub_minimum(run, minima, minimum, data, where);
    run.measure(minimum, std::move(minima));

    const comparison_description dot = describe("03", "dot product", "float", where);
    std::vector<benchmark_case> dots = {two_kernel_dot("two_kernels", role::variant, data, where)};
    add_library_dots(run, dots, dot, data, where);
    run.measure(dot, std::move(dots));
  }
}

void two_kernel_dots_of_doubles(session& run) {
  const std::vector<placement> places =
      run.placements("03", "dot product of double", 2 * sizeof(double), 2 * sizeof(double));
  const exact_vectors<double> data(longest(places), 3);
  for (const placement& where : places) {
    const comparison_description dot = describe("03", "dot product", "double", where);
    std::vector<benchmark_case> dots = {
        two_kernel_dot("two_kernels", role::variant, data, where),
        two_kernel_dot("two_kernels_1024_threads", role::variant, data, where, 1024)};
    add_library_dots(run, dots, dot, data, where);
    run.measure(dot, std::move(dots));
  }
}

void two_kernel_launches(session& run) {
  const std::vector<placement> places = cached_placements(run, "03");
  const exact_vectors<float> data(longest(places), 3);
  for (const placement& where : places) {
    const comparison_description sum = describe("03", "sum by launch", "float", where);
    std::vector<benchmark_case> cases;
    add_two_kernel_launches(run, cases, role::variant, sum, data, where);
    add_cub_launches(run, cases, sum, data, where);
    run.measure(sum, std::move(cases));
  }
}

const chapter_benchmark kernels("03", "kernels", two_kernel_reductions);
const chapter_benchmark doubles("03", "kernels", two_kernel_dots_of_doubles);
const chapter_benchmark launches("03", "launches", two_kernel_launches);

}  // namespace

}  // namespace benchmarks
