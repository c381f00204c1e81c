// SPDX-License-Identifier: MIT
// Scans as benchmark cases.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace benchmarks {

// Counts the elements that are not the one before plus the input's: with none, all are right. The
// sums are exact: see exact_vectors.
template <class T>
__global__ void count_wrong_prefixes(const T* in, const T* out, std::size_t n,
                                     unsigned long long* wrong) {
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += all) {
    const T before = i == 0 ? T{} : out[i - 1];
    if (!(out[i] == before + in[i])) atomicAdd(wrong, 1ULL);  // NaN is wrong, too.
  }
}

// A case that scans the vector a of `data` with `function`. The sums go to `out`, which has room
// for where.length() elements. `data` and `out` outlive the case.
template <class T>
benchmark_case scanning(const std::string& name, role part, const exact_vectors<T>& data,
                        lab::device_buffer<T>& out, const placement& where,
                        const std::function<void(const T*, T*, std::size_t)>& function) {
  const auto run = [&data, &out, where, function](std::size_t input) {
    const std::size_t first = where.first(input);
    function(data.a(first), out.data() + first, where.elements);
  };
  return {.name = name,
          .part = part,
          .bytes = 2 * sizeof(T) * where.elements,
          .run = run,
          .wrong = [&data, &out, where, run]() -> std::optional<std::string> {
            lab::device_buffer<unsigned long long> wrong(1);
            wrong.fill_bytes(0);
            out.fill_bytes(0xff);  // NaN, or -1.
            for (std::size_t input = 0; input < where.inputs; ++input) {
              run(input);
              const std::size_t first = where.first(input);
              count_wrong_prefixes<<<1024, 256>>>(data.a(first), out.data() + first, where.elements,
                                                  wrong.data());
              CUDA_CHECK(cudaGetLastError());
            }
            const unsigned long long count = wrong.to_host().front();
            if (count == 0) return std::nullopt;
            return std::to_string(count) + " of " + std::to_string(where.length()) +
                   " elements are wrong";
          }};
}

// By bulk copies. Throws no_such_peer. In bulk_scan.cu.
benchmark_case bulk_look_back_scan(const exact_vectors<float>& data, lab::device_buffer<float>& out,
                                   const placement& where);

// By look-back and programmatic dependent launch. Throws no_such_peer. In dependent_launch.cu.
benchmark_case look_back_scan_by_dependent_launch(const exact_vectors<float>& data,
                                                  lab::device_buffer<float>& out,
                                                  const placement& where);

}  // namespace benchmarks
