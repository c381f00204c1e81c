// SPDX-License-Identifier: MIT
// Times the sum of two_kernel_reduction.cuh and the reductions of fast_two_kernel_reduction.cuh, a
// dot product next to chapter 02's, and checks their results.
#include "03_two_kernel_reduction/two_kernel_reduction.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "03_two_kernel_reduction/program_rows.cuh"
#include "lab/device.hpp"
#include "lab/program.hpp"

namespace {

const lab::program_description description = {
    .name = "two_kernel_reduction",
    .summary = "reductions; a second kernel merges the partial results",
    .variants = {"sum_by_two_kernels", "dot_finished_by_host", "dot", "sum", "minimum", "maximum",
                 "dot_double", "sum_double", "dot_int64", "sum_int64", "sum_int32"},
};

// The lesson's two kernels, in the grid of the command line or else one that fills the device.
void add_lesson_row(lab::reduction_rows<std::int64_t>& rows) {
  auto& problem = rows.problem();
  const unsigned blocks = rows.blocks([&] {
    const std::size_t useful = cuda::ceil_div(problem.size(), std::size_t{rows.threads()});
    const std::size_t resident = lab::resident_blocks(course::sum_blocks, rows.threads());
    return static_cast<unsigned>(std::clamp<std::size_t>(useful, 1, resident));
  });
  rows.add(
      "sum_by_two_kernels", blocks, 1,
      [&](std::int64_t* partials, std::int64_t* result) {
        course::sum_by_two_kernels(problem.a(), problem.size(), partials, result, blocks,
                                   rows.threads());
      },
      [&](std::int64_t got) { return problem.wrong_sum(got, 0); });  // Whole numbers: no rounding.
}

void run(const lab::options& options, lab::program_results& results) {
  const std::uint64_t bytes = 2 * sizeof(double) * options.elements;
  lab::require_memory(bytes, bytes);
  if (options.wants("sum_by_two_kernels")) {
    lab::reduction_rows<std::int64_t> rows(options, results);
    add_lesson_row(rows);
  }
  {
    lab::reduction_rows<float> rows(options, results);
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
    lab::reduction_rows<double> rows(options, results);
    course::add_two_kernel_dot(rows, "dot_double");
    course::add_two_kernel_sum(rows, "sum_double");
  }
  if (options.wants("dot_int64") || options.wants("sum_int64")) {
    lab::reduction_rows<std::int64_t> rows(options, results);
    course::add_two_kernel_dot(rows, "dot_int64");
    course::add_two_kernel_sum(rows, "sum_int64");
  }
  if (options.wants("sum_int32")) {
    lab::reduction_rows<std::int32_t> rows(options, results);
    course::add_two_kernel_sum(rows, "sum_int32");
  }
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }
