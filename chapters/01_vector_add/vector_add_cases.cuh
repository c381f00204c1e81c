// SPDX-License-Identifier: MIT
// The benchmark cases of chapters 01 and 06: vector adds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "benchmark/comparison.hpp"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/peers.hpp"
#include "benchmark/session.hpp"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace benchmarks {

// Counts the elements of c that are not the one right sum of a's and b's.
template <class T>
__global__ void count_wrong_sums(const T* a, const T* b, const T* c, std::size_t n,
                                 unsigned long long* wrong) {
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += all) {
    if (!(c[i] == a[i] + b[i])) atomicAdd(wrong, 1ULL);  // NaN is wrong, too.
  }
}

// A case that adds the vectors a and b of `data` with `function`. The sums go to c, which has room
// for where.length() elements. `data` and `c` outlive the case.
template <class T>
benchmark_case adding(const std::string& name, role part, const exact_vectors<T>& data,
                      lab::device_buffer<T>& c, const placement& where,
                      const add_function<T>& function) {
  const auto run = [&data, &c, where, function](std::size_t input) {
    const std::size_t first = where.first(input);
    function(data.a(first), data.b(first), c.data() + first, where.elements);
  };
  return {.name = name,
          .part = part,
          .bytes = 3 * sizeof(T) * where.elements,
          .run = run,
          .wrong = [&data, &c, where, run]() -> std::optional<std::string> {
            lab::device_buffer<unsigned long long> wrong(1);
            wrong.fill_bytes(0);
            c.fill_bytes(0xff);  // NaN.
            for (std::size_t input = 0; input < where.inputs; ++input) run(input);
            count_wrong_sums<<<1024, 256>>>(data.a(0), data.b(0), c.data(), where.length(),
                                            wrong.data());
            CUDA_CHECK(cudaGetLastError());
            const unsigned long long count = wrong.to_host().front();
            if (count == 0) return std::nullopt;
            return std::to_string(count) + " of " + std::to_string(where.length()) +
                   " elements are wrong";
          }};
}

// launch_sixteen_bytes in blocks of so many threads, as a programmatic dependent launch. Throws
// no_such_peer where there is none. dependent_launch.cu.
add_function<float> sixteen_bytes_by_dependent_launch(unsigned threads);

}  // namespace benchmarks
