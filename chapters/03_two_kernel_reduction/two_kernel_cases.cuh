// SPDX-License-Identifier: MIT
// Chapter 03's reductions as benchmark cases: its own benchmark's, and chapter 04's, which is
// compared with them.
#pragma once

#include <cstddef>
#include <string>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "benchmark/exact_vectors.cuh"

namespace benchmarks {

template <class T, class Operation>
benchmark_case two_kernel_reduction(const std::string& name, role part,
                                    const reduction_task<T>& task, Operation operation,
                                    const exact_vectors<T>& data, const placement& where,
                                    unsigned threads = threads_a_block) {
  const std::size_t n = where.elements;
  const unsigned blocks = course::reduction_blocks<course::elements<T>>(
      course::reduce_elements<T, Operation>, n, threads);
  const auto partials = working_memory<T>(blocks);
  return task.on_device(name, part, [=, &data](std::size_t input, T* result) {
    course::two_kernel_reduction(data.a(where.first(input)), n, operation, partials->data(), result,
                                 blocks, threads);
  });
}

// A sum of n values, with all that it needs.
template <class T>
reduce_function<T> two_kernel_sum_of(std::size_t n, unsigned threads = threads_a_block) {
  const unsigned blocks = course::reduction_blocks<course::elements<T>>(
      course::reduce_elements<T, course::plus>, n, threads);
  const auto partials = working_memory<T>(blocks);
  return [=](const T* values, T* result, cudaStream_t stream) {
    course::two_kernel_reduction(values, n, course::plus{}, partials->data(), result, blocks,
                                 threads, stream);
  };
}

template <class T>
benchmark_case two_kernel_sum(const std::string& name, role part, const exact_vectors<T>& data,
                              const placement& where, unsigned threads = threads_a_block) {
  return summing<T>(name, part, data, where, two_kernel_sum_of<T>(where.elements, threads));
}

template <class T>
benchmark_case two_kernel_minimum(const std::string& name, role part, const exact_vectors<T>& data,
                                  const placement& where) {
  return two_kernel_reduction(name, part, minimum_task(data, where), course::minimum{}, data,
                              where);
}

template <class T>
benchmark_case two_kernel_dot(const std::string& name, role part, const exact_vectors<T>& data,
                              const placement& where, unsigned threads = threads_a_block) {
  const std::size_t n = where.elements;
  const unsigned blocks =
      course::reduction_blocks<course::products<T>>(course::reduce_products<T>, n, threads);
  const auto partials = working_memory<T>(blocks);
  return dot_task(data, where).on_device(name, part, [=, &data](std::size_t input, T* result) {
    const std::size_t first = where.first(input);
    course::two_kernel_dot(data.a(first), data.b(first), n, partials->data(), result, blocks,
                           threads);
  });
}

}  // namespace benchmarks
