// SPDX-License-Identifier: MIT
// Chapter 08's scans next to cub::DeviceScan and a copy.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/call_graph.hpp"
#include "benchmark/chain.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

// Scans of n values, with all that they need.
template <course::tile_order order, class T>
scan_function<T> look_back_scan(std::size_t n, bool resets = false) {
  const auto memory = std::make_shared<course::look_back_memory<T>>(course::scan_tiles_of<T>(n));
  return [=](const T* in, T* out, cudaStream_t stream) {
    if (resets) memory->reset(stream);
    course::inclusive_scan<order>(in, out, n, course::plus{}, *memory, stream);
  };
}
template <class T>
scan_function<T> three_kernel_scan(std::size_t n) {
  const auto prefixes = working_memory<T>(course::scan_tiles_of<T>(n));
  return [=](const T* in, T* out, cudaStream_t stream) {
    course::inclusive_scan_in_three_kernels(in, out, n, course::plus{}, prefixes->data(), stream);
  };
}

template <class T>
void scans_of_type(session& run, const std::string& type) {
  using course::tile_order;
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr std::size_t most_of_others = std::size_t{1} << 28;
  std::vector<placement> places =
      run.placements("08", "inclusive sum of " + type, 2 * sizeof(T), 3 * sizeof(T));
  if (!is_float) {  // Fewer sizes.
    std::erase_if(places, [](const placement& where) {
      return where.elements > most_of_others || std::countr_zero(where.elements) % 2 != 0;
    });
  }
  const exact_vectors<T> data(longest(places), 8);
  lab::device_buffer<T> out(longest(places));
  for (const placement& where : places) {
    const comparison_description of = describe("08", "inclusive sum", type, where);
    std::vector<benchmark_case> cases;
    const auto add = [&](const std::string& name, role part, auto make) {
      run.add_peer(cases, of, name,
                   [&] { return scanning<T>(name, part, data, out, where, make(where.elements)); });
    };
    add("look_back", role::variant,
        [](std::size_t n) { return look_back_scan<tile_order::as_published, T>(n); });
    if constexpr (std::is_floating_point_v<T>) {  // Of whole numbers any order makes the same sums.
      add("look_back_fixed_order", role::variant,
          [](std::size_t n) { return look_back_scan<tile_order::fixed, T>(n); });
    }
    if constexpr (is_float) {
      add("look_back_reset_first", role::variant,
          [](std::size_t n) { return look_back_scan<tile_order::as_published, T>(n, true); });
    }
    add("three_kernels", role::variant, three_kernel_scan<T>);
    add("bulk_look_back", role::variant, bulk_look_back_scan<T>);
    add("look_back_dependent_launch", role::variant, dependent_look_back_scan<T>);
    add("bulk_look_back_dependent_launch", role::variant, dependent_bulk_look_back_scan<T>);
    add("cub_device_scan", role::peer, cub_inclusive_sum<T>);
    if constexpr (std::is_floating_point_v<T>) {
      add("cub_scan_run_to_run", role::peer, cub_inclusive_sum_run_to_run<T>);
    }
    const std::size_t bytes = sizeof(T) * where.elements;
    cases.push_back(device_to_device_copy(data.a(0), out.data(), bytes, bytes, where.inputs));
    run.measure(of, std::move(cases));
  }
}

void scans(session& run) {
  scans_of_type<float>(run, "float");
  scans_of_type<std::int32_t>(run, "int32");
  scans_of_type<std::int64_t>(run, "int64");
  scans_of_type<double>(run, "double");
}

// The lesson's kernels. One thread looks back there: more elements would take it seconds.
void scans_of_the_lesson(session& run) {
  using T = std::int64_t;
  constexpr std::size_t most = std::size_t{1} << 24;
  std::vector<placement> places =
      run.placements("08", "inclusive sum of the lesson", 2 * sizeof(T), 3 * sizeof(T));
  std::erase_if(places, [](const placement& where) { return where.elements > most; });
  const exact_vectors<T> data(longest(places), 8);
  lab::device_buffer<T> out(longest(places));
  for (const placement& where : places) {
    const comparison_description of = describe("08", "inclusive sum of the lesson", "int64", where);
    const std::size_t n = where.elements;
    const unsigned tiles = course::tiles_of(n, threads_a_block);
    const auto sums = working_memory<T>(tiles);
    const auto memory = std::make_shared<course::look_back_memory<T>>(tiles);
    std::vector<benchmark_case> cases = {
        scanning<T>("scan_in_three_kernels", role::variant, data, out, where,
                    [=](const T* in, T* to, cudaStream_t) {
                      course::scan_in_three_kernels(in, to, n, sums->data(), threads_a_block);
                    }),
        scanning<T>("scan_in_one_pass", role::variant, data, out, where,
                    [=](const T* in, T* to, cudaStream_t) {
                      course::scan_with_look_back(in, to, n, *memory, threads_a_block);
                    }),
        scanning<T>("look_back", role::variant, data, out, where,
                    look_back_scan<course::tile_order::as_published, T>(n))};
    run.add_peer(cases, of, "cub_device_scan", [&] {
      return scanning<T>("cub_device_scan", role::peer, data, out, where, cub_inclusive_sum<T>(n));
    });
    run.measure(of, std::move(cases));
  }
}

// What a scan makes is what the next call scans: zeros, and a 1 eight elements before the end.
// After k calls the last ones are the binomial coefficients k - 1 + d over d.
void scans_in_a_chain(session& run) {
  using course::tile_order;
  for (const placement& where : chain_placements(run)) {
    const comparison_description of = describe("08", "inclusive sum in a chain", "float", where);
    const std::size_t n = where.elements;
    constexpr unsigned last = 8;
    std::vector<float> input(n);
    std::vector<float> expected(n);
    input[n - last] = expected[n - last] = 1;
    for (unsigned d = 1; d < last; ++d) {
      const std::size_t i = n - last + d;
      expected[i] = expected[i - 1] * static_cast<float>(calls_of_a_graph - 1 + d) / d;
    }
    const chain<float> sums(input, expected);
    std::vector<benchmark_case> cases;
    const auto add = [&](const std::string& name, role part, auto make) {
      sums.add(run, cases, of, name, part, [=] { return make(n); });
    };
    add("look_back", role::variant,
        [](std::size_t count) { return look_back_scan<tile_order::as_published, float>(count); });
    add("look_back_dependent_launch", role::variant, dependent_look_back_scan<float>);
    add("three_kernels", role::variant, three_kernel_scan<float>);
    add("cub_device_scan", role::peer, cub_inclusive_sum<float>);
    run.measure(of, std::move(cases));
  }
}

const chapter_benchmark kernels("08", "kernels", scans);
const chapter_benchmark lesson("08", "kernels", scans_of_the_lesson);
const chapter_benchmark chains("08", "kernels", scans_in_a_chain);

}  // namespace

}  // namespace benchmarks
