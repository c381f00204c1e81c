// SPDX-License-Identifier: MIT
// Scans as benchmark cases.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "benchmark/exact_vectors.cuh"
#include "benchmark/peers.hpp"
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
                        const scan_function<T>& function) {
  const auto run = [&data, &out, where, function](std::size_t input) {
    const std::size_t first = where.first(input);
    function(data.a(first), out.data() + first, nullptr);
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

// Scans of n values of int32, int64, float or double: by bulk copies, in bulk_scan.cu, and by
// programmatic dependent launch, in dependent_launch.cu. They throw no_such_peer.
template <class T>
scan_function<T> bulk_look_back_scan(std::size_t n);
template <class T>
scan_function<T> dependent_bulk_look_back_scan(std::size_t n);
template <class T>
scan_function<T> dependent_look_back_scan(std::size_t n);

}  // namespace benchmarks
