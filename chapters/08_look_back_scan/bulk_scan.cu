// SPDX-License-Identifier: MIT
// Chapter 08's scan by bulk copies, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "08_look_back_scan/bulk_look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

template <class T>
void require_bulk_copies() {
  if (!course::has_bulk_copies<T, course::plus>())
    throw no_such_peer(
        "bulk copies of this size need compute capability 9.0 and 217 KiB of shared memory");
}

template <class T>
scan_function<T> bulk_look_back_scan(std::size_t n) {
  require_bulk_copies<T>();
  const auto memory = std::make_shared<course::look_back_memory<T>>(course::bulk_tiles_of<T>(n));
  return [=](const T* in, T* out, cudaStream_t stream) {
    course::bulk_inclusive_scan(in, out, n, course::plus{}, *memory, stream);
  };
}

// The kernel waits for the one before it by itself: see scan_bulk_tiles.
template <class T>
scan_function<T> dependent_bulk_look_back_scan(std::size_t n) {
  require_bulk_copies<T>();
  const unsigned tiles = course::bulk_tiles_of<T>(n);
  using memory = course::look_back_memory<T>;
  const auto in_turn = std::make_shared<std::pair<memory, memory>>(tiles, tiles);
  return course::with_bulk_tile<T>(n, [=](auto tile) -> scan_function<T> {
    auto* const kernel = course::prepared_bulk_kernel<decltype(tile), T, course::plus>();
    return [=](const T* in, T* out, cudaStream_t stream) {
      launch_dependent(kernel, {tiles, tile.threads, tile.bytes}, stream, in, out, n,
                       course::plus{}, in_turn->first.access(tiles));
      std::swap(in_turn->first, in_turn->second);
    };
  });
}

template scan_function<std::int32_t> bulk_look_back_scan(std::size_t);
template scan_function<std::int64_t> bulk_look_back_scan(std::size_t);
template scan_function<float> bulk_look_back_scan(std::size_t);
template scan_function<double> bulk_look_back_scan(std::size_t);
template scan_function<std::int32_t> dependent_bulk_look_back_scan(std::size_t);
template scan_function<std::int64_t> dependent_bulk_look_back_scan(std::size_t);
template scan_function<float> dependent_bulk_look_back_scan(std::size_t);
template scan_function<double> dependent_bulk_look_back_scan(std::size_t);

}  // namespace benchmarks
