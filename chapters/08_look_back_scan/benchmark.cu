// SPDX-License-Identifier: MIT
// Chapter 08's scans next to cub::DeviceScan and a copy.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

template <class T>
auto look_back_memory_for(const placement& where) {
  return std::make_shared<course::look_back_memory<T>>(course::scan_tiles_of<T>(where.elements));
}

template <course::tile_order order, class T>
benchmark_case look_back_scan(const std::string& name, const exact_vectors<T>& data,
                              lab::device_buffer<T>& out, const placement& where,
                              bool resets = false) {
  const auto memory = look_back_memory_for<T>(where);
  return scanning<T>(name, role::variant, data, out, where, [=](const T* in, T* to, std::size_t n) {
    if (resets) memory->reset();
    course::inclusive_scan<order>(in, to, n, course::plus{}, *memory);
  });
}

template <class T>
void add_cub_scan(session& run, std::vector<benchmark_case>& cases,
                  const comparison_description& of, const exact_vectors<T>& data,
                  lab::device_buffer<T>& out, const placement& where) {
  run.add_peer(cases, of, "cub_device_scan", [&] {
    return scanning<T>("cub_device_scan", role::peer, data, out, where,
                       [sum = cub_inclusive_sum<T>(where.elements)](
                           const T* in, T* to, std::size_t) { sum(in, to, nullptr); });
  });
}

void scans_of_floats(session& run) {
  using course::tile_order;
  const std::vector<placement> places =
      run.placements("08", "inclusive sum", 2 * sizeof(float), 3 * sizeof(float));
  const exact_vectors<float> data(longest(places), 8);
  lab::device_buffer<float> out(longest(places));
  for (const placement& where : places) {
    const comparison_description of = describe("08", "inclusive sum", "float", where);
    const auto prefixes = working_memory<float>(course::scan_tiles_of<float>(where.elements));
    std::vector<benchmark_case> cases = {
        look_back_scan<tile_order::as_published>("look_back", data, out, where),
        look_back_scan<tile_order::fixed>("look_back_fixed_order", data, out, where),
        look_back_scan<tile_order::as_published>("look_back_reset_first", data, out, where, true),
        scanning<float>("three_kernels", role::variant, data, out, where,
                        [=](const float* in, float* to, std::size_t n) {
                          course::inclusive_scan_in_three_kernels(in, to, n, course::plus{},
                                                                  prefixes->data());
                        })};
    run.add_peer(cases, of, "bulk_look_back",
                 [&] { return bulk_look_back_scan(data, out, where); });
    run.add_peer(cases, of, "look_back_dependent_launch",
                 [&] { return look_back_scan_by_dependent_launch(data, out, where); });
    add_cub_scan(run, cases, of, data, out, where);
    const std::size_t bytes = sizeof(float) * where.elements;
    cases.push_back(device_to_device_copy(data.a(0), out.data(), bytes, bytes, where.inputs));
    run.measure(of, std::move(cases));
  }
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
    const unsigned tiles = course::tiles_of(where.elements, threads_a_block);
    const auto sums = working_memory<T>(tiles);
    const auto memory = std::make_shared<course::look_back_memory<T>>(tiles);
    std::vector<benchmark_case> cases = {
        scanning<T>("scan_in_three_kernels", role::variant, data, out, where,
                    [=](const T* in, T* to, std::size_t n) {
                      course::scan_in_three_kernels(in, to, n, sums->data(), threads_a_block);
                    }),
        scanning<T>("scan_in_one_pass", role::variant, data, out, where,
                    [=](const T* in, T* to, std::size_t n) {
                      course::scan_with_look_back(in, to, n, *memory, threads_a_block);
                    }),
        look_back_scan<course::tile_order::as_published>("look_back", data, out, where)};
    add_cub_scan(run, cases, of, data, out, where);
    run.measure(of, std::move(cases));
  }
}

const chapter_benchmark kernels("08", "kernels", scans_of_floats);
const chapter_benchmark lesson("08", "kernels", scans_of_the_lesson);

}  // namespace

}  // namespace benchmarks
