// SPDX-License-Identifier: MIT
// Chapter 03's reductions, which a second kernel finishes, beside CUB and cuBLAS.
#include "03_two_kernel_reduction/two_kernel_reduction.cuh"

#include <cstddef>
#include <string>
#include <vector>

#include "exact_vectors.cuh"
#include "reduction_contenders.cuh"
#include "session.hpp"
#include "two_kernel_contenders.cuh"

namespace benchmarks {

namespace {

void two_kernel_reductions(session& run) {
  const std::vector<placement> places =
      run.placements("03", "reductions of float", sizeof(float), 2 * sizeof(float));
  const exact_vectors<float> data(longest(places), 3);
  for (const placement& where : places) {
    const contest_description sum = describe("03", "sum", "float", where);
    std::vector<contender> sums = {
        two_kernel_sum("two_kernels", role::variant, data, where),
        two_kernel_sum("two_kernels_512_threads", role::variant, data, where, 512)};
    add_cub_sum(run, sums, sum, data, where);
    run.hold(sum, std::move(sums));

    const contest_description minimum = describe("03", "minimum", "float", where);
    std::vector<contender> minima = {two_kernel_minimum("two_kernels", role::variant, data, where)};
    add_cub_minimum(run, minima, minimum, data, where);
    run.hold(minimum, std::move(minima));

    const contest_description dot = describe("03", "dot product", "float", where);
    std::vector<contender> dots = {two_kernel_dot("two_kernels", role::variant, data, where)};
    add_library_dots(run, dots, dot, data, where);
    run.hold(dot, std::move(dots));
  }
}

const chapter_benchmark registered("03", two_kernel_reductions);

}  // namespace

}  // namespace benchmarks
