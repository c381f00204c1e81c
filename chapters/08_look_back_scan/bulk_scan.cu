// SPDX-License-Identifier: MIT
// Chapter 08's scan by bulk copies, for its benchmark.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "08_look_back_scan/bulk_look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

template <class T>
scan_function<T> bulk_look_back_scan(std::size_t n) {
  if (!course::has_bulk_copies<T, course::plus>())
    throw no_such_peer(
        "bulk copies of this size need compute capability 9.0 and 217 KiB of shared memory");
  const auto memory = std::make_shared<course::look_back_memory<T>>(course::bulk_tiles_of<T>(n));
  return [=](const T* in, T* out, cudaStream_t stream) {
    course::bulk_inclusive_scan(in, out, n, course::plus{}, *memory, stream);
  };
}

template scan_function<std::int32_t> bulk_look_back_scan(std::size_t);
template scan_function<std::int64_t> bulk_look_back_scan(std::size_t);
template scan_function<float> bulk_look_back_scan(std::size_t);
template scan_function<double> bulk_look_back_scan(std::size_t);

}  // namespace benchmarks
