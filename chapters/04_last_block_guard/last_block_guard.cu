// SPDX-License-Identifier: MIT
// Times one dot product and one sum by who finishes them, the host, a second kernel, or the last
// block with each of the four guards, and checks their results.
#include "04_last_block_guard/last_block_guard.cuh"

#include <cuda/cmath>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "03_two_kernel_reduction/program_rows.cuh"
#include "04_last_block_guard/fast_last_block_guard.cuh"
#include "04_last_block_guard/guards.cuh"
#include "lab/device.hpp"
#include "lab/program.hpp"
#include "lab/resident_blocks.cuh"

namespace {

const lab::program_description description = {
    .name = "last_block_guard",
    .summary = "reductions; the last block merges the partial results",
    .variants = {"sum_in_one_kernel", "dot_finished_by_host", "dot_second_kernel", "dot_last_block",
                 "sum_second_kernel", "sum_last_block", "sum_repaired_guard", "sum_shared_flag",
                 "sum_syncthreads_or", "sum_last_block_double", "sum_last_block_int64"},
};

// The lesson's kernel, in the grid of the command line or else one that fills the device.
void add_lesson_row(lab::reduction_rows<std::int64_t>& rows, const std::string& name) {
  course::arrival_counter counter;
  auto& problem = rows.problem();
  const unsigned blocks = rows.blocks([&] {
    const std::size_t useful = cuda::ceil_div(problem.size(), std::size_t{rows.threads()});
    const std::size_t resident = lab::resident_blocks(course::sum_in_one_kernel, rows.threads());
    return static_cast<unsigned>(std::clamp<std::size_t>(useful, 1, resident));
  });
  rows.add(
      name, blocks, 1,
      [&](std::int64_t* partials, std::int64_t* result) {
        course::sum_by_last_block(problem.a(), problem.size(), partials, counter.data(), result,
                                  blocks, rows.threads());
      },
      [&](std::int64_t got) { return problem.wrong_sum(got, 0); });  // Whole numbers: no rounding.
}

template <class Guard, class T>
void add_last_block_sum(lab::reduction_rows<T>& rows, const std::string& name) {
  course::arrival_counter counter;
  auto& problem = rows.problem();
  course::add_reduction(
      rows, name, course::reduce_elements_in_one_kernel<Guard, T, course::plus>,
      [&](T* partials, T* result, unsigned blocks, unsigned threads) {
        course::last_block_reduction<Guard>(problem.a(), problem.size(), course::plus{}, partials,
                                            counter, result, blocks, threads);
      },
      [&](T got, std::uint64_t longest_chain) { return problem.wrong_sum(got, longest_chain); });
}

template <class T>
void add_last_block_dot(lab::reduction_rows<T>& rows, const std::string& name) {
  using guard = course::acquire_release_guard;
  course::arrival_counter counter;
  auto& problem = rows.problem();
  course::add_dot(rows, name, course::reduce_products_in_one_kernel<guard, T>,
                  [&](T* partials, T* result, unsigned blocks, unsigned threads) {
                    course::last_block_dot<guard>(problem.a(), problem.b(), problem.size(),
                                                  partials, counter, result, blocks, threads);
                  });
}

void run(const lab::options& options, lab::program_results& results) {
  using course::acquire_release_guard;
  const std::uint64_t bytes = 2 * sizeof(double) * options.elements;
  lab::require_memory(bytes, bytes);
  if (const std::string name = "sum_in_one_kernel"; options.wants(name)) {
    lab::reduction_rows<std::int64_t> rows(options, results);
    add_lesson_row(rows, name);
  }
  {
    lab::reduction_rows<float> rows(options, results);
    course::add_dot_finished_by_host(rows, "dot_finished_by_host");
    course::add_two_kernel_dot(rows, "dot_second_kernel");
    add_last_block_dot(rows, "dot_last_block");
    course::add_two_kernel_sum(rows, "sum_second_kernel");
    add_last_block_sum<acquire_release_guard>(rows, "sum_last_block");
    add_last_block_sum<course::repaired_guard>(rows, "sum_repaired_guard");
    add_last_block_sum<course::shared_flag_guard>(rows, "sum_shared_flag");
    add_last_block_sum<course::syncthreads_or_guard>(rows, "sum_syncthreads_or");
  }
  if (const std::string name = "sum_last_block_double"; options.wants(name)) {
    lab::reduction_rows<double> rows(options, results);
    add_last_block_sum<acquire_release_guard>(rows, name);
  }
  if (const std::string name = "sum_last_block_int64"; options.wants(name)) {
    lab::reduction_rows<std::int64_t> rows(options, results);
    add_last_block_sum<acquire_release_guard>(rows, name);
  }
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }
