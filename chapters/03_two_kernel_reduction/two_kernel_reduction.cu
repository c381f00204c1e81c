// SPDX-License-Identifier: MIT
// Times the reductions of two_kernel_reduction.cuh, a dot product beside chapter 02's, and checks
// their results.
#include "03_two_kernel_reduction/two_kernel_reduction.cuh"

#include <cstdint>

#include "03_two_kernel_reduction/reduction_rows.cuh"
#include "lab/device.hpp"
#include "lab/program.hpp"

namespace {

const lab::program_description description = {
    .name = "two_kernel_reduction",
    .summary = "dot products, sums and extrema; a second kernel merges what the blocks leave",
    .variants = {"dot_finished_by_host", "dot", "sum", "minimum", "maximum", "dot_double",
                 "sum_double", "dot_int64", "sum_int64", "sum_int32"},
};

void run(const lab::options& options, lab::report& report) {
  const std::uint64_t bytes = 2 * sizeof(double) * options.elements;
  lab::require_memory(bytes, bytes);
  {
    lab::reduction_rows<float> rows(options, report);
    course::add_dot_finished_by_host(rows, "dot_finished_by_host");
    course::add_two_kernel_dot(rows, "dot");
    course::add_two_kernel_sum(rows, "sum");
    course::add_two_kernel_reduction(
        rows, "minimum", course::minimum{}, [&](float got, std::uint64_t) {
          return rows.problem().wrong_minimum(got, course::minimum::identity<float>());
        });
    course::add_two_kernel_reduction(
        rows, "maximum", course::maximum{}, [&](float got, std::uint64_t) {
          return rows.problem().wrong_maximum(got, course::maximum::identity<float>());
        });
  }
  if (options.wants("dot_double") || options.wants("sum_double")) {
    lab::reduction_rows<double> rows(options, report);
    course::add_two_kernel_dot(rows, "dot_double");
    course::add_two_kernel_sum(rows, "sum_double");
  }
  if (options.wants("dot_int64") || options.wants("sum_int64")) {
    lab::reduction_rows<std::int64_t> rows(options, report);
    course::add_two_kernel_dot(rows, "dot_int64");
    course::add_two_kernel_sum(rows, "sum_int64");
  }
  if (options.wants("sum_int32")) {
    lab::reduction_rows<std::int32_t> rows(options, report);
    course::add_two_kernel_sum(rows, "sum_int32");
  }
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }
