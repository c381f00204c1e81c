// SPDX-License-Identifier: MIT
// Chapter 01's vector add beside thrust::transform and a copy.
#include "01_vector_add/fast_vector_add.cuh"

#include <cstddef>
#include <string>
#include <vector>

#include "01_vector_add/vector_add_cases.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

constexpr unsigned threads = threads_a_block;

add_function<float> sixteen_bytes_in_blocks_of(unsigned size) {
  return [=](const float* a, const float* b, float* sum, std::size_t n) {
    course::launch_sixteen_bytes(a, b, sum, n, course::sixteen_bytes_blocks<float>(n, size), size);
  };
}

void vector_add(session& run) {
  const std::string task = "vector add";
  const auto multiprocessors = static_cast<unsigned>(run.device().multiprocessors);
  const std::vector<placement> places =
      run.placements("01", task, 3 * sizeof(float), 3 * sizeof(float));
  const exact_vectors<float> data(longest(places), 1);
  lab::device_buffer<float> c(longest(places));

  for (const placement& where : places) {
    const comparison_description of = describe("01", task, "float", where);
    const auto variant = [&](const char* name, const add_function<float>& function) {
      return adding(name, role::variant, data, c, where, function);
    };
    std::vector<benchmark_case> cases = {
        variant("one_element_a_thread",
                [](const float* a, const float* b, float* sum, std::size_t n) {
                  course::launch_one_element(a, b, sum, n, threads);
                }),
        variant("grid_stride",
                [=](const float* a, const float* b, float* sum, std::size_t n) {
                  course::launch_grid_stride(
                      a, b, sum, n, course::grid_stride_blocks(n, threads, multiprocessors),
                      threads);
                }),
        variant("sixteen_byte_loads", sixteen_bytes_in_blocks_of(threads)),
        variant("sixteen_byte_loads_1024_threads", sixteen_bytes_in_blocks_of(1024))};
    run.add_peer(cases, of, "sixteen_byte_loads_dependent_launch", [&] {
      return variant("sixteen_byte_loads_dependent_launch", sixteen_bytes_by_dependent_launch(512));
    });
    run.add_peer(cases, of, "thrust_transform", [&] {
      return adding("thrust_transform", role::peer, data, c, where, thrust_transform<float>());
    });
    const std::size_t bytes = sizeof(float) * where.elements;
    cases.push_back(device_to_device_copy(data.a(0), c.data(), bytes, bytes, where.inputs));
    run.measure(of, std::move(cases));
  }
}

const chapter_benchmark registered("01", "kernels", vector_add);

}  // namespace

}  // namespace benchmarks
