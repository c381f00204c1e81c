// SPDX-License-Identifier: MIT
// Runs the case of the text that the chapter starts from, then times the kernel of dot_product.cuh
// and those of fast_dot_product.cuh, and checks their results.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/dot_product.cuh"
#include "02_shared_memory_dot_product/fast_dot_product.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/program.hpp"
#include "lab/reduction_rows.cuh"

namespace {

const lab::program_description description = {
    .name = "dot_product",
    .summary = "the sum of a[i] * b[i]; the host adds the partial sums",
    .variants = {"dot_finished_by_host", "thirty_two_blocks", "static_tree", "dynamic_tree",
                 "shuffle", "sixteen_byte_loads", "sixteen_byte_loads_double",
                 "sixteen_byte_loads_int64"},
};

// At most 32 blocks, as in the text: few enough to look at, far too few for a whole GPU.
unsigned blocks_of_the_text(std::size_t n, unsigned threads) {
  return static_cast<unsigned>(std::min<std::size_t>(32, cuda::ceil_div<std::size_t>(n, threads)));
}

// The text's own case: a[i] = i and b[i] = 2i for i from 1 to 33 * 1024, in 64-bit integers,
// because the last product alone, 2 * 33792 * 33792, is more than 32 bits can hold.
void case_of_the_text(lab::program_results& results) {
  constexpr std::int64_t n = 33 * 1024;
  constexpr unsigned threads = 256;
  // 2 * (1^2 + ... + n^2), by the closed formula for the sum of squares.
  constexpr std::int64_t expected = 2 * (n * (n + 1) * (2 * n + 1) / 6);
  static_assert(expected == 25'725'848'529'920);
  std::vector<std::int64_t> a(n);
  std::vector<std::int64_t> b(n);
  for (std::int64_t i = 1; i <= n; ++i) {
    a[i - 1] = i;
    b[i - 1] = 2 * i;
  }
  const lab::device_buffer<std::int64_t> device_a(a);
  const lab::device_buffer<std::int64_t> device_b(b);
  lab::device_buffer<std::int64_t> partials(blocks_of_the_text(n, threads));
  const std::int64_t got = course::dot_finished_by_host(device_a.data(), device_b.data(),
                                                        std::size_t{n}, threads, partials);
  results.compare("dot product of 1..33792 and twice that", got, expected);
}

template <class T>
void add_row(lab::reduction_rows<T>& rows, const std::string& name, course::dot_variant variant,
             unsigned blocks) {
  auto& problem = rows.problem();
  rows.add_on_host(
      name, blocks, 2,
      [&](lab::device_buffer<T>& partials) {
        return course::dot_product(variant, problem.a(), problem.b(), problem.size(),
                                   rows.threads(), partials);
      },
      [&](T got) {
        return problem.wrong_dot(got, course::dot_longest_chain<T>(
                                          problem.size(), std::max(blocks, 1U), rows.threads()));
      });
}

// In the grid of the command line, or else one that fills the device.
template <class T>
void add_row(lab::reduction_rows<T>& rows, const std::string& name, course::dot_variant variant) {
  add_row(rows, name, variant, rows.blocks([&] {
    return course::dot_blocks<T>(variant, rows.problem().size(), rows.threads());
  }));
}

// The lesson's kernel, in the grid of the command line or else one that fills the device.
void add_lesson_row(lab::reduction_rows<std::int64_t>& rows) {
  auto& problem = rows.problem();
  const unsigned blocks = rows.blocks([&] {
    const std::size_t useful = cuda::ceil_div(problem.size(), std::size_t{rows.threads()});
    return static_cast<unsigned>(std::min(
        useful,
        lab::resident_blocks(course::dot, rows.threads(), rows.threads() * sizeof(std::int64_t))));
  });
  rows.add_on_host(
      "dot_finished_by_host", blocks, 2,
      [&](lab::device_buffer<std::int64_t>& partials) {
        return course::dot_finished_by_host(problem.a(), problem.b(), problem.size(),
                                            rows.threads(), partials);
      },
      [&](std::int64_t got) { return problem.wrong_dot(got, 0); });  // Whole numbers: no rounding.
}

void run(const lab::options& options, lab::program_results& results) {
  using course::dot_variant;
  const std::uint64_t vector_bytes = sizeof(std::int64_t) * options.elements;
  lab::require_memory(2 * vector_bytes, 2 * vector_bytes);

  case_of_the_text(results);
  if (options.wants("dot_finished_by_host")) {
    lab::reduction_rows<std::int64_t> rows(options, results);
    add_lesson_row(rows);
  }
  {
    lab::reduction_rows<float> rows(options, results);
    add_row(rows, "thirty_two_blocks", dot_variant::dynamic_tree,
            blocks_of_the_text(options.elements, options.threads));
    add_row(rows, "static_tree", dot_variant::static_tree);
    add_row(rows, "dynamic_tree", dot_variant::dynamic_tree);
    add_row(rows, "shuffle", dot_variant::shuffle);
    add_row(rows, "sixteen_byte_loads", dot_variant::sixteen_bytes);
  }
  if (const std::string name = "sixteen_byte_loads_double"; options.wants(name)) {
    lab::reduction_rows<double> rows(options, results);
    add_row(rows, name, dot_variant::sixteen_bytes);
  }
  if (const std::string name = "sixteen_byte_loads_int64"; options.wants(name)) {
    lab::reduction_rows<std::int64_t> rows(options, results);
    add_row(rows, name, dot_variant::sixteen_bytes);
  }
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }
