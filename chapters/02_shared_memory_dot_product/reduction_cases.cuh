// SPDX-License-Identifier: MIT
// The benchmark cases of chapters 02 to 04: everything that makes one number of one or two vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/comparison.hpp"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/device_buffer.cuh"
#include "lab/reference.hpp"

namespace benchmarks {

// A task of one chapter on one type at one placement: reductions of `vectors` vectors.
template <class T>
class reduction_task {
 public:
  // The right result for input i is expected(i).
  reduction_task(std::size_t inputs, std::uint64_t bytes,
                 std::function<std::int64_t(std::size_t)> expected)
      : inputs_(inputs), bytes_(bytes), expected_(std::move(expected)) {}

  // One that leaves the result in the device's memory: run(input, result).
  benchmark_case on_device(const std::string& name, role part,
                           std::function<void(std::size_t, T*)> run) const {
    const auto results = std::make_shared<lab::device_buffer<T>>(inputs_);
    const auto call = [=](std::size_t input) { run(input, results->data() + input); };
    return case_for(name, part, call, [=, inputs = inputs_] {
      results->fill_bytes(poison);
      for (std::size_t input = 0; input < inputs; ++input) call(input);
      return results->to_host();
    });
  }

  // One whose result the host gets: run(input).
  benchmark_case on_host(const std::string& name, role part,
                         std::function<T(std::size_t)> run) const {
    // Kept where the compiler can't prove that it is not read.
    const auto result = std::make_shared<T>();
    return case_for(
        name, part, [=](std::size_t input) { *result = run(input); },
        [=, inputs = inputs_] {
          std::vector<T> results;
          for (std::size_t input = 0; input < inputs; ++input) results.push_back(run(input));
          return results;
        });
  }

 private:
  static constexpr int poison = 0xff;  // NaN, or -1.

  template <class Call, class Results>
  benchmark_case case_for(const std::string& name, role part, Call call, Results results) const {
    return {.name = name,
            .part = part,
            .bytes = bytes_,
            .run = call,
            .wrong = [results, expected = expected_]() -> std::optional<std::string> {
              const std::vector<T> got = results();
              for (std::size_t input = 0; input < got.size(); ++input) {
                const auto wrong = lab::unequal<T>(got[input], exactly<T>(expected(input)));
                if (wrong) return "input " + std::to_string(input) + ": " + *wrong;
              }
              return std::nullopt;
            }};
  }

  std::size_t inputs_;
  std::uint64_t bytes_;
  std::function<std::int64_t(std::size_t)> expected_;
};

template <class T>
reduction_task<T> sum_task(const exact_vectors<T>& data, const placement& where) {
  return {where.inputs, sizeof(T) * where.elements, [&data, where](std::size_t input) {
            return data.sum_of_a(where.first(input), where.elements);
          }};
}
template <class T>
reduction_task<T> minimum_task(const exact_vectors<T>& data, const placement& where) {
  return {where.inputs, sizeof(T) * where.elements, [&data, where](std::size_t input) {
            return data.minimum_of_a(where.first(input), where.elements);
          }};
}
template <class T>
reduction_task<T> dot_task(const exact_vectors<T>& data, const placement& where) {
  return {where.inputs, 2 * sizeof(T) * where.elements, [&data, where](std::size_t input) {
            return data.dot(where.first(input), where.elements);
          }};
}

// `count` elements of device memory that a case works in, for as long as it exists.
template <class T>
std::shared_ptr<lab::device_buffer<T>> working_memory(std::size_t count) {
  return std::make_shared<lab::device_buffer<T>>(count);
}

// `sum` as a case of its own. `data` outlives all cases.
template <class T>
benchmark_case summing(const std::string& name, role part, const exact_vectors<T>& data,
                       const placement& where, const reduce_function<T>& sum) {
  return sum_task(data, where).on_device(name, part, [=, &data](std::size_t input, T* result) {
    sum(data.a(where.first(input)), result, nullptr);
  });
}

// The libraries' reductions: CUB's sum with the same bits in every run, in two kernels but for
// short inputs, and the one in a kernel that adds to the result in any order.
template <class T>
void add_cub_sums(session& run, std::vector<benchmark_case>& cases,
                  const comparison_description& of, const exact_vectors<T>& data,
                  const placement& where) {
  const auto add = [&](const std::string& name, auto make) {
    run.add_peer(cases, of, name,
                 [&] { return summing<T>(name, role::peer, data, where, make(where.elements)); });
  };
  add("cub_device_reduce_sum", cub_sum<T>);
  add("cub_sum_not_guaranteed", cub_sum_not_guaranteed<T>);
}
template <class T>
void add_cub_minimum(session& run, std::vector<benchmark_case>& cases,
                     const comparison_description& of, const exact_vectors<T>& data,
                     const placement& where) {
  run.add_peer(cases, of, "cub_device_reduce_min", [&] {
    return minimum_task(data, where)
        .on_device(
            "cub_device_reduce_min", role::peer,
            [&data, where, minimum = cub_minimum<T>(where.elements)](std::size_t input, T* result) {
              minimum(data.a(where.first(input)), result, nullptr);
            });
  });
}
template <class T>
void add_library_dots(session& run, std::vector<benchmark_case>& cases,
                      const comparison_description& of, const exact_vectors<T>& data,
                      const placement& where) {
  const auto on_device = [&](const std::string& name, auto make) {
    run.add_peer(cases, of, name, [&] {
      return dot_task(data, where)
          .on_device(name, role::peer,
                     [&data, where, dot = make(where.elements)](std::size_t input, T* result) {
                       dot(data.a(where.first(input)), data.b(where.first(input)), result);
                     });
    });
  };
  on_device("cublas_dot", cublas_dot<T>);
  on_device("cub_transform_reduce", cub_transform_reduce<T>);
  run.add_peer(cases, of, "cublas_dot_to_host", [&] {
    return dot_task(data, where)
        .on_host("cublas_dot_to_host", role::peer,
                 [&data, where, dot = cublas_dot_to_host<T>(where.elements)](std::size_t input) {
                   return dot(data.a(where.first(input)), data.b(where.first(input)));
                 });
  });
}

}  // namespace benchmarks
