// SPDX-License-Identifier: MIT
// Chapter 07's kernel next to a copy.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "07_grid_barrier/grid_barrier.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

void grid_barrier(session& run) {
  const std::string task = "doubling";
  const std::vector<placement> places =
      run.placements("07", task, 2 * sizeof(float), 3 * sizeof(float));
  const exact_vectors<float> data(longest(places), 1);
  lab::device_buffer<float> out(longest(places));

  for (const placement& where : places) {
    const auto of = describe("07", task, "float", where);
    const auto launch = [&data, &out, where](std::size_t input) {
      const std::size_t first = where.first(input);
      const float* in = data.a(first);
      float* const doubled = out.data() + first;
      course::launch_grid_barrier(in, doubled, where.elements, threads_a_block);
    };
    // The sum of all elements; the chapter's test looks at each of them.
    const auto wrong = [&data, &out, where, launch]() -> std::optional<std::string> {
      out.fill_bytes(0xff);
      for (std::size_t input = 0; input < where.inputs; ++input) launch(input);
      double sum = 0;
      for (const float element : out.to_host(0, where.length())) sum += element;
      if (sum == 2.0 * static_cast<double>(data.sum_of_a(0, where.length()))) return std::nullopt;
      return "the sum of all elements is wrong";
    };
    const std::size_t bytes = sizeof(float) * where.elements;
    run.measure(of, {{.name = "one_element_per_thread",
                      .part = role::variant,
                      .bytes = 2 * bytes,
                      .run = launch,
                      .wrong = wrong},
                     device_to_device_copy(data.a(0), out.data(), bytes, bytes, where.inputs)});
  }
}

const chapter_benchmark registered("07", "kernels", grid_barrier);

}  // namespace

}  // namespace benchmarks
