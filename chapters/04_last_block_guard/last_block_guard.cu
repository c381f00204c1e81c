// SPDX-License-Identifier: MIT
// Times one dot product and one sum by who finishes them, the host, a second kernel, or the last
// block with each of the three guards, and checks their results.
#include "04_last_block_guard/last_block_guard.cuh"

#include <cstdint>
#include <string>

#include "03_two_kernel_reduction/reduction_rows.cuh"
#include "lab/device.hpp"
#include "lab/program.hpp"

namespace {

const lab::program_description description = {
    .name = "last_block_guard",
    .summary = "dot products and sums; the block that arrives last merges what the others leave",
    .variants = {"dot_finished_by_host", "dot_second_kernel", "dot_last_block", "sum_second_kernel",
                 "sum_last_block", "sum_shared_flag", "sum_syncthreads_or", "sum_last_block_double",
                 "sum_last_block_int64"},
};

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

void run(const lab::options& options, lab::report& report) {
  using course::acquire_release_guard;
  const std::uint64_t bytes = 2 * sizeof(double) * options.elements;
  lab::require_memory(bytes, bytes);
  {
    lab::reduction_rows<float> rows(options, report);
    course::add_dot_finished_by_host(rows, "dot_finished_by_host");
    course::add_two_kernel_dot(rows, "dot_second_kernel");
    add_last_block_dot(rows, "dot_last_block");
    course::add_two_kernel_sum(rows, "sum_second_kernel");
    add_last_block_sum<acquire_release_guard>(rows, "sum_last_block");
    add_last_block_sum<course::shared_flag_guard>(rows, "sum_shared_flag");
    add_last_block_sum<course::syncthreads_or_guard>(rows, "sum_syncthreads_or");
  }
  if (const std::string name = "sum_last_block_double"; options.wants(name)) {
    lab::reduction_rows<double> rows(options, report);
    add_last_block_sum<acquire_release_guard>(rows, name);
  }
  if (const std::string name = "sum_last_block_int64"; options.wants(name)) {
    lab::reduction_rows<std::int64_t> rows(options, report);
    add_last_block_sum<acquire_release_guard>(rows, name);
  }
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }
