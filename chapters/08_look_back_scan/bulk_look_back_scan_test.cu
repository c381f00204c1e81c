// SPDX-License-Identifier: MIT
// What only CUDA has: the scan by bulk copies, on a GPU that has them, and scans in a graph.
#include "08_look_back_scan/bulk_look_back_scan.cuh"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "testing/poisoned_output.cuh"

namespace bulk_scans {

// x -> scale * x + shift modulo 2^32, with both in one number: associative, not commutative.
struct compose {
  __host__ __device__ std::uint64_t operator()(std::uint64_t earlier, std::uint64_t later) const {
    const auto scale = static_cast<std::uint32_t>(later >> 32);
    const auto shift = static_cast<std::uint32_t>(later);
    const std::uint32_t both = scale * static_cast<std::uint32_t>(earlier >> 32);
    return std::uint64_t{both} << 32 | (scale * static_cast<std::uint32_t>(earlier) + shift);
  }
};

}  // namespace bulk_scans

namespace {

using bulk_scans::compose;
using course::large_bulk_tile;
using course::look_back_memory;
using course::plus;
using course::small_bulk_tile;

template <class T, class Operation>
void require_bulk_copies() {
  if (!course::has_bulk_copies<T, Operation>()) SKIP("this device has no bulk copies of this size");
}

// Counts at which something ends: a packet, a thread, a warp, a tile, a window of 32 tiles, a wave.
template <class Tile>
std::vector<std::size_t> awkward_counts() {
  constexpr std::size_t thread = Tile::elements / Tile::threads;
  constexpr std::size_t warp = 32 * thread;
  constexpr std::size_t tile = Tile::elements;
  std::vector<std::size_t> counts = {0, 1, 2, 3, 4, 5};
  for (const std::size_t end : {thread, 31 * thread, warp, tile - warp, tile, 2 * tile, 33 * tile,
                                150 * Tile::blocks_of_sm * tile}) {
    for (const std::size_t n : {end - 1, end, end + 1, end + 7}) counts.push_back(n);
  }
  return counts;
}

// Scans twice onto poison, and then in place; all three must be what the host computes.
template <class Tile, class T, class Operation>
void check_scan(const std::vector<T>& values, Operation operation) {
  const std::size_t n = values.size();
  std::vector<T> expected(values);
  for (std::size_t i = 1; i < n; ++i) expected[i] = operation(expected[i - 1], values[i]);
  look_back_memory<T> memory(course::covering_blocks(n, Tile::elements));
  const lab::device_buffer<T> in(values);
  testing::poisoned_output<T> out(n);
  for (int launch = 0; launch < 2; ++launch) {
    out.poison();
    course::bulk_inclusive_scan_in<Tile>(in.data(), out.data(), n, operation, memory);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE_FALSE(out.overrun());
    REQUIRE(out.to_host() == expected);
  }
  lab::device_buffer<T> both(values);
  course::bulk_inclusive_scan_in<Tile>(both.data(), both.data(), n, operation, memory);
  REQUIRE(both.to_host() == expected);
}

template <class Tile, class T>
void check_sums() {
  for (const std::size_t n : awkward_counts<Tile>()) {
    CAPTURE(n);
    check_scan<Tile>(lab::small_integers<T>(n, 1, n), plus{});
  }
}

TEMPLATE_TEST_CASE("the bulk scan is exact where a packet, a warp or a tile ends", "", float,
                   double, std::int32_t, std::int64_t) {
  require_bulk_copies<TestType, plus>();
  check_sums<small_bulk_tile<TestType>, TestType>();
  check_sums<large_bulk_tile<TestType>, TestType>();
}

template <class Tile>
void check_composed_maps() {
  for (const std::size_t n : awkward_counts<Tile>()) {
    CAPTURE(n);
    std::vector<std::uint64_t> maps(n);
    for (std::size_t i = 0; i < n; ++i) maps[i] = (2 * i + 1) << 32 | (i % 1000 + 1);
    check_scan<Tile>(maps, compose{});
  }
}

TEST_CASE("the bulk scan keeps the order of an operation that does not commute") {
  require_bulk_copies<std::uint64_t, compose>();
  check_composed_maps<small_bulk_tile<std::uint64_t>>();
  check_composed_maps<large_bulk_tile<std::uint64_t>>();
}

// 2^27 bytes: from there on the larger tiles.
TEST_CASE("the bulk scan takes the tiles for the size, with memory for that many") {
  require_bulk_copies<float, plus>();
  constexpr std::size_t first_long = std::size_t{1} << 25;
  for (const std::size_t n : {first_long - 1, first_long}) {
    CAPTURE(n);
    const std::size_t tile =
        n < first_long ? small_bulk_tile<float>::elements : large_bulk_tile<float>::elements;
    REQUIRE(course::bulk_tiles_of<float>(n) == (n + tile - 1) / tile);
    std::vector<float> values(n);  // Of zeros, but for a few: all sums are exact.
    for (std::size_t i = 0; i < n; i += 1000) values[i] = 1;
    std::vector<float> expected(values);
    for (std::size_t i = 1; i < n; ++i) expected[i] += expected[i - 1];
    look_back_memory<float> memory(course::bulk_tiles_of<float>(n));
    lab::device_buffer<float> both(values);
    course::bulk_inclusive_scan(both.data(), both.data(), n, plus{}, memory);
    REQUIRE(both.to_host() == expected);
  }
}

TEST_CASE("the bulk scan refuses what bulk copies can't do") {
  require_bulk_copies<float, plus>();
  lab::device_buffer<float> data(100);
  look_back_memory<float> memory(1);
  const auto scan = [&](std::size_t from, std::size_t to) {
    course::bulk_inclusive_scan(data.data() + from, data.data() + to, 10, plus{}, memory);
  };
  CHECK_THROWS_AS(scan(1, 40), std::invalid_argument);  // misaligned
  CHECK_THROWS_AS(scan(0, 41), std::invalid_argument);
  CHECK_THROWS_AS(scan(0, 4), std::invalid_argument);  // overlapping
  CHECK_THROWS_AS(course::bulk_inclusive_scan(data.data(), data.data(),
                                              small_bulk_tile<float>::elements + 1, plus{}, memory),
                  std::length_error);
}

// The graph is made once, and its replays use the same memory: each finds it ready.
TEST_CASE("each replay of a graph of two scans is right") {
  constexpr std::size_t n = 3 * course::scan_tile_elements<std::int32_t> + 5;
  const std::vector<std::int32_t> values = lab::small_integers<std::int32_t>(n, 1, n);
  std::vector<std::int32_t> expected(values);
  for (int scan = 0; scan < 2; ++scan) {
    for (std::size_t i = 1; i < n; ++i) expected[i] += expected[i - 1];
  }
  look_back_memory<std::int32_t> memory(course::scan_tiles_of<std::int32_t>(n));
  const lab::device_buffer<std::int32_t> in(values);
  lab::device_buffer<std::int32_t> once(n);
  testing::poisoned_output<std::int32_t> twice(n);

  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replayed = nullptr;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  course::inclusive_scan(in.data(), once.data(), n, plus{}, memory, stream);
  course::inclusive_scan(once.data(), twice.data(), n, plus{}, memory, stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&replayed, graph, 0));
  for (int replay = 0; replay < 5; ++replay) {
    CAPTURE(replay);
    twice.poison();
    CUDA_CHECK(cudaDeviceSynchronize());  // The poison is there.
    CUDA_CHECK(cudaGraphLaunch(replayed, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    REQUIRE(twice.to_host() == expected);
  }
  CUDA_CHECK(cudaGraphExecDestroy(replayed));
  CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaStreamDestroy(stream));
}

}  // namespace
