// SPDX-License-Identifier: MIT
// Chapter 02's dot products, which the host finishes, next to cuBLAS and CUB.
#include "02_shared_memory_dot_product/fast_dot_product.cuh"

#include <cstddef>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"

namespace benchmarks {

namespace {

template <class T>
benchmark_case dot_of(const std::string& name, course::dot_variant variant,
                      const exact_vectors<T>& data, const placement& where) {
  const std::size_t n = where.elements;
  const auto partials = working_memory<T>(course::dot_blocks<T>(variant, n, threads_a_block));
  return dot_task(data, where)
      .on_host(name, role::variant, [&data, where, n, variant, partials](std::size_t input) {
        const std::size_t first = where.first(input);
        return course::dot_product(variant, data.a(first), data.b(first), n, threads_a_block,
                                   *partials);
      });
}

template <class T>
void dots_of_type(session& run, const std::string& type) {
  const std::string task = "dot product";
  const std::vector<placement> places =
      run.placements("02", task + " of " + type, 2 * sizeof(T), 2 * sizeof(T));
  const exact_vectors<T> data(longest(places), 2);
  for (const placement& where : places) {
    const comparison_description of = describe("02", task, type, where);
    using course::dot_variant;
    std::vector<benchmark_case> cases = {
        dot_of("dynamic_tree", dot_variant::dynamic_tree, data, where),
        dot_of("shuffle", dot_variant::shuffle, data, where),
        dot_of("sixteen_byte_loads", dot_variant::sixteen_bytes, data, where)};
    add_library_dots(run, cases, of, data, where);
    run.measure(of, std::move(cases));
  }
}

void dot_products(session& run) {
  dots_of_type<float>(run, "float");
  dots_of_type<double>(run, "double");
}

const chapter_benchmark registered("02", "kernels", dot_products);

}  // namespace

}  // namespace benchmarks
