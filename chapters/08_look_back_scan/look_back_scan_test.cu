// SPDX-License-Identifier: MIT
// Look-backs and scans: every tile gets what comes before it, in order, once.
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER  // A failed check prints what is wrong.
#include "08_look_back_scan/look_back_scan.cuh"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "08_look_back_scan/compact.cuh"
#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/scan_problem.cuh"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/large_data.cuh"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using course::look_back;
using course::look_back_memory;
using course::plus;
using course::tile_order;
using course::tile_ticket;

// x -> scale * x + shift, modulo 2^32. `after` of two of them depends on which comes first.
struct affine_map {
  std::uint32_t scale;
  std::uint32_t shift;

  friend bool operator==(const affine_map&, const affine_map&) = default;
};

// The same with 64 bits: 16 bytes, more than two status words hold.
struct wide_affine_map {
  std::uint64_t scale;
  std::uint64_t shift;

  friend bool operator==(const wide_affine_map&, const wide_affine_map&) = default;
};

// The later map after the earlier one. Associative, not commutative, and without an identity here.
struct compose {
  template <class Map>
  __host__ __device__ Map operator()(Map earlier, Map later) const {
    return {later.scale * earlier.scale, later.scale * earlier.shift + later.shift};
  }
};

// How often each tile is there, in both halves.
struct tile_counts_twice {
  std::uint64_t counts;
  std::uint64_t again;

  friend bool operator==(const tile_counts_twice&, const tile_counts_twice&) = default;
};
struct add_counts {
  __host__ __device__ tile_counts_twice operator()(const tile_counts_twice& a,
                                                   const tile_counts_twice& b) const {
    return {a.counts + b.counts, a.again + b.again};
  }
};

template <class T>
struct operation_of {
  using type = plus;
};
template <>
struct operation_of<tile_counts_twice> {
  using type = add_counts;
};
template <>
struct operation_of<affine_map> {
  using type = compose;
};
template <>
struct operation_of<wide_affine_map> {
  using type = compose;
};

// Whole numbers, small enough that each sum of `n` is exact in T; maps with odd scales, which lose
// nothing.
template <class T>
std::vector<T> exact_values(std::size_t n, std::uint64_t seed) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_arithmetic_v<T>) {
      const std::int64_t magnitude = sizeof(T) < 4 ? 3 : std::is_same_v<T, float> ? 100 : 1 << 12;
      values[i] = static_cast<T>(lab::random_integer(seed, i, magnitude));
    } else {
      const std::uint64_t bits = lab::random_bits(seed, i);
      using word = decltype(T::scale);
      values[i] = {static_cast<word>(bits | 1), static_cast<word>(bits >> 20)};
    }
  }
  return values;
}

// The inclusive scan, one after the other.
template <class T, class Operation>
std::vector<T> scanned(const std::vector<T>& values, Operation operation) {
  std::vector<T> result(values);
  for (std::size_t i = 1; i < result.size(); ++i) result[i] = operation(result[i - 1], values[i]);
  return result;
}

// The exclusive one.
template <class T, class Operation>
std::vector<T> scanned_exclusively(const std::vector<T>& values, T initial, Operation operation) {
  std::vector<T> result(values);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = i == 0 ? initial : operation(result[i - 1], values[i - 1]);
  }
  return result;
}

// "element 5 of 9 differs, in tile 1" for the first one that does.
template <class T>
std::optional<std::string> difference(const std::vector<T>& got, const std::vector<T>& expected,
                                      std::size_t tile) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    std::string text = "element " + std::to_string(i) + " of " + std::to_string(expected.size()) +
                       " differs, in tile " + std::to_string(i / tile);
    if constexpr (std::is_arithmetic_v<T>) text += ": " + *lab::unequal(got[i], expected[i]);
    return text;
  }
  return std::nullopt;
}

// ---- the look-back alone: a value for each tile

enum class way { by_warp, by_one_thread, in_fixed_order };
constexpr way all_ways[] = {way::by_warp, way::by_one_thread, way::in_fixed_order};

// before[k] becomes what tiles 0 to k - 1 combine to; before[0] becomes values[0], which the
// look-back leaves as it is. A block of two warps for each tile. Counts in claims[k] who had ticket
// k, and leaves the epoch in epochs[k].
template <class T, class Operation>
__global__ void look_back_alone(way how, look_back<T> earlier_tiles, const T* values, T* before,
                                Operation operation, unsigned* claims, unsigned* epochs) {
  const tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  if (threadIdx.x == 0) epochs[mine.tile] = mine.epoch;
  atomicAdd(&claims[mine.tile], 1U);  // By all threads, which must all have the same ticket.
  const T aggregate = values[mine.tile];
  T prefix = values[0];
  bool has_prefix = false;
  if (how == way::by_one_thread) {
    if (threadIdx.x != blockDim.x - 1) return;
    has_prefix = earlier_tiles.exclusive_prefix_by_one_thread(mine, aggregate, operation, &prefix);
  } else {
    if (threadIdx.x < 32 || threadIdx.x >= 64) return;
    has_prefix =
        how == way::by_warp
            ? earlier_tiles.exclusive_prefix(mine, aggregate, operation, &prefix)
            : earlier_tiles.exclusive_prefix_in_fixed_order(mine, aggregate, operation, &prefix);
    // From any lane: all have the result.
    if (threadIdx.x != 32 + mine.tile % 32) return;
  }
  if (has_prefix == (mine.tile > 0)) before[mine.tile] = prefix;
}

constexpr unsigned threads_of_look_back = 64;

// What is wrong with one launch, if anything is.
template <class T>
std::optional<std::string> wrong_look_back(way how, look_back<T> earlier_tiles,
                                           const std::vector<T>& values, unsigned epoch) {
  using operation = typename operation_of<T>::type;
  const auto tiles = static_cast<unsigned>(values.size());
  const lab::device_buffer<T> input(values);
  testing::poisoned_output<T> before(tiles);
  lab::device_buffer<unsigned> claims(std::vector<unsigned>(tiles, 0));
  testing::poisoned_output<unsigned> epochs(tiles);
  look_back_alone<<<tiles, threads_of_look_back>>>(how, earlier_tiles, input.data(), before.data(),
                                                   operation{}, claims.data(), epochs.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  if (claims.to_host() != std::vector<unsigned>(tiles, threads_of_look_back)) {
    return "a tile has not one block";
  }
  if (epochs.to_host() != std::vector<unsigned>(tiles, epoch)) return "another epoch";
  std::vector<T> expected = scanned_exclusively(values, values[0], operation{});
  const std::vector<T> inclusive = scanned(values, operation{});
  std::copy(inclusive.begin(), inclusive.end() - 1, expected.begin() + 1);
  if (auto wrong = before.overrun()) return wrong;
  return difference(before.to_host(), expected, 1);
}

std::vector<unsigned> tile_counts() {
  if (testing::brief_tests()) return {1, 2, 33, 70, 7};
  return {1, 2, 3, 31, 32, 33, 64, 65, 97, 1000, 7};
}

}  // namespace

CATCH_REGISTER_ENUM(way, way::by_warp, way::by_one_thread, way::in_fixed_order)

TEMPLATE_TEST_CASE("each tile gets what all earlier tiles combine to, in their order", "",
                   std::int16_t, std::int32_t, std::int64_t, float, double, affine_map,
                   wide_affine_map) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  // One memory for all launches, of more and fewer tiles, and no reset.
  look_back_memory<TestType> memory(1000);
  unsigned epoch = 0;
  for (const way how : all_ways) {
    for (const unsigned tiles : tile_counts()) {
      for (int launch = 0; launch < 2; ++launch) {
        CAPTURE(how, tiles, launch);
        const auto values = exact_values<TestType>(tiles, seed + ++epoch);
        REQUIRE(wrong_look_back(how, memory.access(tiles), values, epoch) == std::nullopt);
      }
    }
  }
}

namespace {

template <class T>
__device__ course::tile_status<T>* statuses_in(void* memory) {
  return reinterpret_cast<course::tile_status<T>*>(static_cast<char*>(memory) +
                                                   look_back<T>::bytes(0));
}

// One block plays all tiles up to `tile`: `nearest` has published a prefix, those after it an
// aggregate. Those before it have published what must not be used. Then `tile` looks back.
template <class T, class Operation>
__global__ void look_back_to(unsigned nearest, unsigned tile, bool by_warp, void* memory,
                             const T* values, T* before, Operation operation) {
  const tile_ticket mine{tile, 7};
  auto* const statuses = statuses_in<T>(memory);
  for (unsigned k = threadIdx.x; k < tile; k += blockDim.x) {
    const bool is_prefix = k == nearest;
    statuses[k].publish(mine.epoch,
                        is_prefix ? course::tile_state::prefix : course::tile_state::aggregate,
                        values[k]);
  }
  __syncthreads();
  const look_back<T> earlier_tiles(memory, tile + 1);
  if (by_warp) {
    if (threadIdx.x >= 32) return;
    T prefix = values[tile];
    earlier_tiles.exclusive_prefix(mine, values[tile], operation, &prefix);
    if (threadIdx.x == 31) *before = prefix;
  } else if (threadIdx.x == 0) {
    earlier_tiles.exclusive_prefix_by_one_thread(mine, values[tile], operation, before);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a look-back reaches the nearest prefix, over any number of tiles", "",
                   std::int32_t, wide_affine_map) {
  using operation = typename operation_of<TestType>::type;
  constexpr unsigned most = 130;
  const auto values = exact_values<TestType>(most + 1, 3);
  const lab::device_buffer<TestType> input(values);
  for (const unsigned tile : {1U, 31U, 32U, 33U, 64U, 65U, most}) {
    for (const unsigned distance : {1U, 2U, 31U, 32U, 33U, 64U, 65U, tile}) {
      if (distance > tile) continue;
      const unsigned nearest = tile - distance;
      std::vector<TestType> seen(values.begin() + nearest, values.begin() + tile);
      const TestType expected = scanned(seen, operation{}).back();
      for (const bool by_warp : {true, false}) {
        CAPTURE(tile, distance, by_warp);
        lab::device_buffer<unsigned char> memory(look_back<TestType>::bytes(tile + 1));
        memory.fill_bytes(0);
        testing::poisoned_output<TestType> before(1);
        look_back_to<<<1, 64>>>(nearest, tile, by_warp, memory.data(), input.data(), before.data(),
                                operation{});
        CUDA_CHECK(cudaGetLastError());
        REQUIRE(difference(before.to_host(), {expected}, 1) == std::nullopt);
      }
    }
  }
}

namespace {

// The tiles from `first` to `last`.
struct tile_range {
  unsigned first;
  unsigned last;
};

// Counts in *wrong what are no neighbours.
struct join_neighbours {
  unsigned* wrong;

  __device__ tile_range operator()(tile_range earlier, tile_range later) const {
    if (earlier.last + 1 != later.first) atomicAdd(wrong, 1U);
    return {earlier.first, later.last};
  }
};

}  // namespace

TEST_CASE("a look-back combines neighbours only") {
  constexpr unsigned tile = 130;
  std::vector<tile_range> ranges(tile + 1);
  for (unsigned k = 0; k <= tile; ++k) ranges[k] = {k, k};
  const lab::device_buffer<tile_range> input(ranges);
  lab::device_buffer<unsigned> wrong(std::vector<unsigned>{0});
  lab::device_buffer<tile_range> before(1);
  for (const unsigned nearest : {0U, 1U, 65U, 66U, 97U, 98U, 129U}) {
    for (const bool by_warp : {true, false}) {
      CAPTURE(nearest, by_warp);
      lab::device_buffer<unsigned char> memory(look_back<tile_range>::bytes(tile + 1));
      memory.fill_bytes(0);
      look_back_to<<<1, 64>>>(nearest, tile, by_warp, memory.data(), input.data(), before.data(),
                              join_neighbours{wrong.data()});
      CUDA_CHECK(cudaGetLastError());
      const tile_range seen = before.to_host().front();
      CHECK(seen.first == nearest);
      CHECK(seen.last == tile - 1);
      CHECK(wrong.to_host().front() == 0);
    }
  }
}

TEST_CASE("a look-back misses no tile and takes none twice") {
  // A bit for each tile: a carry is one that is taken twice.
  constexpr unsigned tiles = 60;
  std::vector<tile_counts_twice> bits(tiles);
  for (unsigned k = 0; k < tiles; ++k) bits[k] = {std::uint64_t{1} << k, std::uint64_t{1} << k};
  look_back_memory<tile_counts_twice> memory(tiles);
  for (unsigned launch = 1; launch <= (testing::brief_tests() ? 6U : 60U); ++launch) {
    REQUIRE(wrong_look_back(all_ways[launch % 3], memory.access(tiles), bits, launch) ==
            std::nullopt);
  }
}

namespace {

// The operations of exclusive_prefix_in_fixed_order, one after the other. Its order is a promise.
std::vector<float> grouped_by_32(const std::vector<float>& aggregates) {
  std::vector<float> result(aggregates);
  float before_group = 0;
  for (std::size_t tile = 1; tile < result.size(); ++tile) {
    const std::size_t first = tile / 32 * 32;
    // Neighbours, from the tile just before on backwards.
    std::vector<float> values(
        aggregates.rbegin() + static_cast<std::ptrdiff_t>(result.size() - tile),
        aggregates.rend() - static_cast<std::ptrdiff_t>(first));
    for (std::size_t delta = 1; delta < 32; delta *= 2) {
      for (std::size_t i = 0; i + delta < values.size(); ++i) {
        values[i] = values[i + delta] + values[i];
      }
    }
    if (tile == first) {
      before_group = result[tile - 1] + aggregates[tile - 1];
      result[tile] = before_group;
    } else {
      result[tile] = first == 0 ? values[0] : before_group + values[0];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a look-back in fixed order rounds in the same way in every run") {
  constexpr unsigned tiles = 150;
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const auto aggregates = lab::spread_numbers<float>(tiles, seed);
  const lab::device_buffer<float> input(aggregates);
  const std::vector<float> expected = grouped_by_32(aggregates);
  look_back_memory<float> memory(tiles);
  lab::device_buffer<unsigned> claims(std::vector<unsigned>(tiles, 0));
  lab::device_buffer<unsigned> epochs(tiles);
  for (int launch = 0; launch < (testing::brief_tests() ? 2 : 100); ++launch) {
    testing::poisoned_output<float> before(tiles);
    look_back_alone<<<tiles, threads_of_look_back>>>(way::in_fixed_order, memory.access(tiles),
                                                     input.data(), before.data(), plus{},
                                                     claims.data(), epochs.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(difference(before.to_host(), expected, 1) == std::nullopt);
  }
}

TEMPLATE_TEST_CASE("an epoch comes again, and no tag of its last time counts", "", std::int32_t,
                   std::int64_t, wide_affine_map) {
  constexpr unsigned last = (1U << 31) - 1;
  constexpr unsigned middle = 1U << 29;
  constexpr unsigned tiles = 70;
  // Their epochs and tiles. The second one's tags are there until `middle`, and its epoch comes
  // again.
  constexpr unsigned launches[][2] = {{1, 3},         {2, tiles}, {middle - 1, 3}, {middle, 2},
                                      {last - 1, 40}, {last, 3},  {1, 3},          {2, tiles}};
  lab::device_buffer<unsigned long long> memory(look_back<TestType>::bytes(tiles) / 8);
  const look_back<TestType> earlier_tiles(memory.data(), tiles);
  for (const way how : all_ways) {
    CUDA_CHECK(earlier_tiles.init(nullptr));
    std::uint64_t seed = 0;
    for (const auto& [epoch, count] : launches) {
      CAPTURE(how, epoch, count);
      // As after as many launches. The last one has set it to 0.
      if (seed < 6) memory.copy_from(std::vector<unsigned long long>{(epoch - 1ULL) << 32});
      const auto values = exact_values<TestType>(count, ++seed);
      REQUIRE(wrong_look_back(how, earlier_tiles, values, epoch) == std::nullopt);
    }
  }
}

namespace {

// As look_back_alone by warp, but a block takes tiles until none is left: gridDim.x more tickets
// than there are tiles.
__global__ void look_back_persistently(look_back<std::int64_t> earlier_tiles, unsigned tiles,
                                       const std::int64_t* values, std::int64_t* before,
                                       unsigned* claims) {
  for (;;) {
    const tile_ticket mine = earlier_tiles.take_tile(tiles + gridDim.x);
    if (mine.tile >= tiles) return;
    atomicAdd(&claims[mine.tile], 1U);
    if (threadIdx.x >= 32) continue;
    std::int64_t prefix = 1;  // Of tile 0, as the others' values.
    earlier_tiles.exclusive_prefix(mine, values[mine.tile], plus{}, &prefix);
    if (threadIdx.x == 0) before[mine.tile] = prefix;
  }
}

}  // namespace

TEST_CASE("a block may take several tiles") {
  constexpr unsigned tiles = 100;
  const std::vector<std::int64_t> ones(tiles, 1);
  std::vector<std::int64_t> expected(tiles);
  std::iota(expected.begin(), expected.end(), 0);
  expected[0] = 1;
  const lab::device_buffer<std::int64_t> input(ones);
  look_back_memory<std::int64_t> memory(tiles);
  for (const unsigned blocks : {1U, 3U, 20U, 120U}) {
    for (int launch = 0; launch < 2; ++launch) {
      CAPTURE(blocks, launch);
      testing::poisoned_output<std::int64_t> before(tiles);
      lab::device_buffer<unsigned> claims(std::vector<unsigned>(tiles, 0));
      look_back_persistently<<<blocks, threads_of_look_back>>>(
          memory.access(tiles), tiles, input.data(), before.data(), claims.data());
      CUDA_CHECK(cudaGetLastError());
      REQUIRE(difference(before.to_host(), expected, 1) == std::nullopt);
      REQUIRE(claims.to_host() == std::vector<unsigned>(tiles, threads_of_look_back));
    }
  }
}

TEST_CASE("memory for too few tiles is refused") {
  look_back_memory<float> memory(3);
  CHECK_NOTHROW(memory.access(3));
  CHECK_THROWS_AS(memory.access(4), std::length_error);
  CHECK_THROWS_AS(look_back_memory<float>(std::size_t{1} << 32), std::invalid_argument);
}

// ---- the scan of a block

namespace {

template <class T, class Operation>
__global__ void scan_block_twice(const T* values, T* once, T* twice, Operation operation) {
  extern __shared__ unsigned char bytes[];
  auto* const shared = reinterpret_cast<T*>(bytes);
  const unsigned i = cooperative_groups::thread_block::thread_rank();
  once[i] = course::block_scan(values[i], operation, shared);
  // Nothing between the two: `shared` may be used again at once.
  twice[i] = course::block_scan(once[i], operation, shared);
}

template <class T>
void check_block_scan(dim3 threads, std::uint64_t seed) {
  using operation = typename operation_of<T>::type;
  const std::size_t n = std::size_t{threads.x} * threads.y * threads.z;
  const std::vector<T> values = exact_values<T>(n, seed);
  const lab::device_buffer<T> input(values);
  testing::poisoned_output<T> once(n);
  testing::poisoned_output<T> twice(n);
  scan_block_twice<<<1, threads, n * sizeof(T)>>>(input.data(), once.data(), twice.data(),
                                                  operation{});
  CUDA_CHECK(cudaGetLastError());
  const std::vector<T> expected = scanned(values, operation{});
  REQUIRE(difference(once.to_host(), expected, 1) == std::nullopt);
  REQUIRE(difference(twice.to_host(), scanned(expected, operation{}), 1) == std::nullopt);
  REQUIRE(once.overrun() == std::nullopt);
  REQUIRE(twice.overrun() == std::nullopt);
}

}  // namespace

TEST_CASE("a block of every size scans, in order") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const unsigned threads : testing::every_block_size()) {
    CAPTURE(threads);
    check_block_scan<std::int64_t>(threads, seed);
    check_block_scan<affine_map>(threads, seed);
  }
  check_block_scan<affine_map>(dim3(5, 7), seed);
  check_block_scan<affine_map>(dim3(3, 4, 5), seed);
}

// ---- the lesson's scans

namespace {

constexpr std::size_t offsets[] = {0, 1};

// Scans in the lesson's two ways, twice each, from `in` to `out`.
void check_lesson(const std::vector<std::int64_t>& values, unsigned threads, std::size_t offset,
                  bool in_place) {
  const std::size_t n = values.size();
  const std::vector<std::int64_t> expected = scanned(values, plus{});
  const unsigned tiles = course::tiles_of(n, threads);
  look_back_memory<std::int64_t> memory(tiles);
  testing::poisoned_output<std::int64_t> sums(tiles);
  for (const bool one_pass : {false, true}) {
    for (int launch = 0; launch < 2; ++launch) {
      CAPTURE(n, threads, offset, in_place, one_pass, launch);
      testing::poisoned_output<std::int64_t> out(n, offset);
      lab::device_buffer<std::int64_t> input(n + offset);
      input.copy_from(values, offset);
      const std::int64_t* in = input.data() + offset;
      if (in_place) {
        if (n > 0) CUDA_CHECK(cudaMemcpy(out.data(), in, n * sizeof *in, cudaMemcpyDeviceToDevice));
        in = out.data();
      }
      if (one_pass) {
        course::scan_with_look_back(in, out.data(), n, memory, threads);
      } else {
        sums.poison();
        course::scan_in_three_kernels(in, out.data(), n, sums.data(), threads);
      }
      REQUIRE(difference(out.to_host(), expected, threads) == std::nullopt);
      REQUIRE(out.overrun() == std::nullopt);
      REQUIRE(sums.overrun() == std::nullopt);
      if (!in_place) REQUIRE(input.to_host(offset, n) == values);
    }
  }
}

}  // namespace

TEST_CASE("the lesson's scans are exact at the tiles' bounds") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const unsigned threads : testing::all_or_few({1, 33, 64, 256, 1024}, {33, 64})) {
    for (const std::size_t tiles : {0, 1, 2, 40}) {
      for (const std::size_t n :
           {tiles * threads, tiles * threads + 1, (tiles + 1) * threads - 1}) {
        const auto values = lab::small_integers<std::int64_t>(n, std::int64_t{1} << 40, seed);
        check_lesson(values, threads, 0, false);
      }
    }
  }
}

TEST_CASE("the lesson's scans take any alignment, and scan in place") {
  const auto values = lab::small_integers<std::int64_t>(1'000, std::int64_t{1} << 40, 5);
  for (const std::size_t offset : offsets) {
    check_lesson(values, 64, offset, false);
    check_lesson(values, 64, offset, true);
  }
}

TEST_CASE("a scan of more sums than the middle kernel has threads is exact") {
  const std::size_t n = testing::brief_tests() ? 2'500 : 70'000;
  check_lesson(lab::small_integers<std::int64_t>(n, std::int64_t{1} << 40, 6), 1, 0, false);
}

namespace {

struct keep_all {
  __host__ __device__ bool operator()(std::int64_t) const { return true; }
};

}  // namespace

TEST_CASE("arrays that overlap are refused, unless they are the same") {
  lab::device_buffer<std::int64_t> array(100);
  array.fill_bytes(0);
  lab::device_buffer<std::int64_t> sums(10);
  lab::device_buffer<unsigned long long> count(1);
  look_back_memory<std::int64_t> memory(10);
  look_back_memory<unsigned long long> counts(10);
  std::int64_t* const a = array.data();
  for (const int distance : {-49, -1, 1, 49}) {
    const std::int64_t* const in = a + (distance < 0 ? -distance : 0);
    std::int64_t* const out = a + (distance > 0 ? distance : 0);
    CAPTURE(distance);
    CHECK_THROWS_AS(course::scan_with_look_back(in, out, 50, memory, 32), std::invalid_argument);
    CHECK_THROWS_AS(course::scan_in_three_kernels(in, out, 50, sums.data(), 32),
                    std::invalid_argument);
    CHECK_THROWS_AS(course::inclusive_scan(in, out, 50, plus{}, memory), std::invalid_argument);
    CHECK_THROWS_AS(course::exclusive_scan(in, out, 50, 0, plus{}, memory), std::invalid_argument);
    CHECK_THROWS_AS(course::inclusive_scan_in_three_kernels(in, out, 50, plus{}, sums.data()),
                    std::invalid_argument);
    CHECK_THROWS_AS(course::compact(in, out, 50, keep_all{}, counts, count.data(), 32),
                    std::invalid_argument);
  }
  // Compaction in place: another block may still read what a block writes.
  CHECK_THROWS_AS(course::compact(a, a, 50, keep_all{}, counts, count.data(), 32),
                  std::invalid_argument);
  // Neighbours do not overlap.
  CHECK_NOTHROW(course::scan_with_look_back(a, a + 50, 50, memory, 32));
  CHECK_NOTHROW(course::scan_with_look_back(a + 50, a, 50, memory, 32));
  CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("what no launch can do is refused") {
  lab::device_buffer<std::int64_t> array(100);
  look_back_memory<std::int64_t> memory(1);
  look_back_memory<unsigned long long> counts(1);
  std::int64_t* const a = array.data();
  constexpr std::size_t too_many = std::size_t{1} << 31;
  CHECK_THROWS_AS(course::scan_with_look_back(a, a, too_many, memory, 1), std::invalid_argument);
  CHECK_THROWS_AS(course::scan_in_three_kernels(a, a, too_many, a, 1), std::invalid_argument);
  CHECK_THROWS_AS(course::inclusive_scan(a, a, std::size_t{1} << 50, plus{}, memory),
                  std::invalid_argument);
  CHECK_THROWS_AS(course::scan_with_look_back(a, a, 100, memory, 64), std::length_error);
  CHECK_THROWS_AS(course::inclusive_scan(a, a, 5'000, plus{}, memory), std::length_error);
  CHECK_THROWS_AS(course::scan_with_look_back(a, a, 1, memory, 1025), lab::cuda_error);
  for (const unsigned threads : {0U, 48U, 1056U}) {
    CAPTURE(threads);
    CHECK_THROWS_AS(course::compact(a, a + 50, 50, keep_all{}, counts, nullptr, threads),
                    std::invalid_argument);
  }
}

// ---- the fast scans

namespace {

template <class T>
std::vector<std::size_t> counts_at_bounds() {
  const std::size_t tile = course::scan_tile_elements<T>;
  if (testing::brief_tests()) return {0, 1, tile / 8 + 3, tile + 1, 2 * tile};
  std::vector<std::size_t> counts = {0, 1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 129, 1023};
  counts.insert(counts.end(), {tile / 8, tile / 8 + 1, tile - 1, tile, tile + 1, 2 * tile - 1,
                               2 * tile, 2 * tile + 1, 40 * tile + 77});
  return counts;
}

// All fast scans of `values`, twice each.
template <class T>
void check_fast(const std::vector<T>& values, std::size_t offset_of_in, std::size_t offset_of_out,
                bool in_place = false) {
  using operation = typename operation_of<T>::type;
  const std::size_t n = values.size();
  const std::size_t tile = course::scan_tile_elements<T>;
  const T initial = exact_values<T>(1, 77).front();
  const std::vector<T> inclusive = scanned(values, operation{});
  const std::vector<T> exclusive = scanned_exclusively(values, initial, operation{});
  const unsigned tiles = course::scan_tiles_of<T>(n);
  look_back_memory<T> memory(tiles);
  testing::poisoned_output<T> prefixes(tiles);
  for (int which = 0; which < 5; ++which) {
    for (int launch = 0; launch < 2; ++launch) {
      CAPTURE(n, offset_of_in, offset_of_out, in_place, which, launch);
      testing::poisoned_output<T> output(n, offset_of_out);
      lab::device_buffer<T> input(n + offset_of_in);
      input.copy_from(values, offset_of_in);
      const T* in = input.data() + offset_of_in;
      T* const out = output.data();
      if (in_place) {
        if (n > 0) CUDA_CHECK(cudaMemcpy(out, in, n * sizeof(T), cudaMemcpyDeviceToDevice));
        in = out;
      }
      switch (which) {
        case 0:
          course::inclusive_scan(in, out, n, operation{}, memory);
          break;
        case 1:
          course::inclusive_scan<tile_order::fixed>(in, out, n, operation{}, memory);
          break;
        case 2:
          course::inclusive_scan_in_three_kernels(in, out, n, operation{}, prefixes.data());
          break;
        case 3:
          course::exclusive_scan(in, out, n, initial, operation{}, memory);
          break;
        default:
          course::exclusive_scan<tile_order::fixed>(in, out, n, initial, operation{}, memory);
      }
      REQUIRE(difference(output.to_host(), which < 3 ? inclusive : exclusive, tile) ==
              std::nullopt);
      REQUIRE(output.overrun() == std::nullopt);
      REQUIRE(prefixes.overrun() == std::nullopt);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("the fast scans are exact at the tiles' bounds", "", std::int32_t, std::int64_t,
                   float, double) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const std::size_t n : counts_at_bounds<TestType>()) {
    check_fast(exact_values<TestType>(n, seed), 0, 0);
  }
}

TEMPLATE_TEST_CASE("the fast scans keep the order of an operation that does not commute", "",
                   affine_map, wide_affine_map) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const std::size_t n : counts_at_bounds<TestType>()) {
    check_fast(exact_values<TestType>(n, seed), 0, 0);
  }
}

TEMPLATE_TEST_CASE("the fast scans take any alignment, and scan in place", "", std::int32_t,
                   double) {
  const std::size_t n = course::scan_tile_elements<TestType> + 777;
  const auto values = exact_values<TestType>(n, 9);
  for (const std::size_t in : testing::brief_tests() ? std::vector<std::size_t>{0, 1}
                                                     : std::vector<std::size_t>{0, 1, 2, 3}) {
    for (const std::size_t out : offsets) check_fast(values, in, out);
    check_fast(values, 0, in, true);
  }
}

namespace {

// Addition that counts in *wrong each argument that is no sum of elements.
struct plus_of_positive {
  unsigned* wrong;

  __device__ std::int32_t operator()(std::int32_t x, std::int32_t y) const {
    if (x <= 0 || y <= 0) atomicAdd(wrong, 1U);
    return x + y;
  }
};

}  // namespace

TEST_CASE("an operation is called with elements only, also in the last tile") {
  const std::size_t tile = course::scan_tile_elements<std::int32_t>;
  lab::device_buffer<unsigned> wrong(std::vector<unsigned>{0});
  for (const std::size_t n : {std::size_t{1}, std::size_t{70}, tile - 1, tile + tile / 2 + 5}) {
    CAPTURE(n);
    const lab::device_buffer<std::int32_t> ones(std::vector<std::int32_t>(n, 1));
    testing::poisoned_output<std::int32_t> out(n);
    look_back_memory<std::int32_t> memory(course::scan_tiles_of<std::int32_t>(n));
    const plus_of_positive operation{wrong.data()};
    course::inclusive_scan(ones.data(), out.data(), n, operation, memory);
    course::inclusive_scan<tile_order::fixed>(ones.data(), out.data(), n, operation, memory);
    course::exclusive_scan(ones.data(), out.data(), n, 1, operation, memory);
    CHECK(wrong.to_host().front() == 0);
    // What scans the tiles' sums in the form with three kernels.
    lab::device_buffer<std::int32_t> sums(std::vector<std::int32_t>(n, 1));
    course::scan_by_one_block<<<1, course::scan_threads>>>(sums.data(), n, operation);
    CUDA_CHECK(cudaGetLastError());
    CHECK(wrong.to_host().front() == 0);
  }
}

TEMPLATE_TEST_CASE("the fast scans round within the proven bound", "", float, double) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const std::size_t tile = course::scan_tile_elements<TestType>;
  const std::size_t n = (testing::brief_tests() ? 2 : 70) * tile + 1'001;
  const auto [values, unused] = lab::cancelling_vectors<TestType>(n, seed);
  const lab::device_buffer<TestType> input(values);
  lab::device_buffer<TestType> out(n);
  const unsigned tiles = course::scan_tiles_of<TestType>(n);
  look_back_memory<TestType> memory(tiles);
  lab::device_buffer<TestType> prefixes(tiles);
  course::inclusive_scan(input.data(), out.data(), n, plus{}, memory);
  CHECK(course::wrong_sums<TestType>(
            out.to_host(), values,
            course::scan_longest_chain<TestType>(tiles, tile_order::as_published)) == std::nullopt);
  course::exclusive_scan(input.data(), out.data(), n, TestType{3}, plus{}, memory);
  CHECK(course::wrong_sums<TestType>(
            out.to_host(), values,
            course::scan_longest_chain<TestType>(tiles, tile_order::as_published),
            TestType{3}) == std::nullopt);
  course::inclusive_scan<tile_order::fixed>(input.data(), out.data(), n, plus{}, memory);
  CHECK(course::wrong_sums<TestType>(
            out.to_host(), values,
            course::scan_longest_chain<TestType>(tiles, tile_order::fixed)) == std::nullopt);
  course::inclusive_scan_in_three_kernels(input.data(), out.data(), n, plus{}, prefixes.data());
  CHECK(course::wrong_sums<TestType>(
            out.to_host(), values, course::scan_longest_chain_in_three_kernels<TestType>(tiles)) ==
        std::nullopt);
}

TEST_CASE("a scan in fixed order and one in three kernels give the same bits in every run") {
  const std::size_t n = (testing::brief_tests() ? 3 : 100) * 8'192 + 55;
  const auto values = lab::spread_numbers<float>(n, Catch::getSeed());
  const lab::device_buffer<float> input(values);
  lab::device_buffer<float> out(n);
  const unsigned tiles = course::scan_tiles_of<float>(n);
  look_back_memory<float> memory(tiles);
  lab::device_buffer<float> prefixes(tiles);
  std::vector<float> fixed;
  std::vector<float> three_kernels;
  for (int launch = 0; launch < (testing::few_launches() ? 3 : 50); ++launch) {
    course::inclusive_scan<tile_order::fixed>(input.data(), out.data(), n, plus{}, memory);
    if (launch == 0) fixed = out.to_host();
    REQUIRE(out.to_host() == fixed);
    course::inclusive_scan_in_three_kernels(input.data(), out.data(), n, plus{}, prefixes.data());
    if (launch == 0) three_kernels = out.to_host();
    REQUIRE(out.to_host() == three_kernels);
  }
}

TEST_CASE("two streams at once need a memory each") {
  constexpr std::size_t n = 50'000;
  const int launches = testing::brief_tests() ? 2 : 20;
  struct job {
    cudaStream_t stream = nullptr;
    look_back_memory<std::int32_t> memory{course::scan_tiles_of<std::int32_t>(n)};
    lab::device_buffer<std::int32_t> in;
    testing::poisoned_output<std::int32_t> out{n};
  };
  job jobs[2];
  for (int k = 0; k < 2; ++k) {
    jobs[k].in = lab::device_buffer<std::int32_t>(std::vector<std::int32_t>(n, 5 + k));
    CUDA_CHECK(cudaStreamCreateWithFlags(&jobs[k].stream, cudaStreamNonBlocking));
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int launch = 0; launch < launches; ++launch) {
    for (job& each : jobs) {
      course::inclusive_scan(each.in.data(), each.out.data(), n, plus{}, each.memory, each.stream);
    }
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int k = 0; k < 2; ++k) {
    const std::vector<std::int32_t> values(n, 5 + k);
    CHECK(difference(jobs[k].out.to_host(), scanned(values, plus{}), 8'192) == std::nullopt);
    CUDA_CHECK(cudaStreamDestroy(jobs[k].stream));
  }
}

TEST_CASE("a scan of more than 2^32 elements is exact") {
  const std::size_t n = lab::large_count;
  if (const auto reason = lab::why_no_large_data(n * sizeof(std::int32_t))) SKIP(*reason);
  lab::device_buffer<std::int32_t> array = lab::large_vector<std::int32_t>(0, 100, 11);
  std::vector<std::vector<std::int32_t>> windows;
  for (const std::size_t first : lab::large_windows) {
    windows.push_back(array.to_host(first, lab::large_window));
  }
  look_back_memory<std::int32_t> memory(course::scan_tiles_of<std::int32_t>(n));
  course::inclusive_scan(array.data(), array.data(), n, plus{}, memory);
  // Between the windows the elements are 0. The last two windows overlap.
  std::int32_t before = 0;
  std::size_t end = 0;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    const std::size_t first = lab::large_windows[k];
    const std::size_t skipped = end > first ? end - first : 0;
    std::vector<std::int32_t> expected(windows[k].begin() + static_cast<std::ptrdiff_t>(skipped),
                                       windows[k].end());
    expected.front() += before;
    expected = scanned(expected, plus{});
    CHECK(difference(array.to_host(first + skipped, expected.size()), expected, 1) == std::nullopt);
    before = expected.back();
    end = first + lab::large_window;
  }
}

// ---- compaction

namespace {

struct below {
  std::int32_t limit;
  __host__ __device__ bool operator()(std::int32_t value) const { return value < limit; }
};

}  // namespace

TEST_CASE("compaction keeps what it must, in order, and counts it") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const std::size_t n : testing::brief_tests()
                                 ? std::vector<std::size_t>{0, 1, 64, 5'000}
                                 : std::vector<std::size_t>{0, 1, 63, 64, 65, 5'000, 200'000}) {
    const auto values = lab::small_integers<std::int32_t>(n, 1000, seed);
    const lab::device_buffer<std::int32_t> input(values);
    for (const unsigned threads : testing::all_or_few({32, 64, 256, 1024}, {64})) {
      look_back_memory<unsigned long long> memory(course::tiles_of(n, threads));
      for (const std::int32_t limit : {-2000, -900, 0, 2000}) {  // None, few, half, all.
        CAPTURE(n, threads, limit);
        testing::poisoned_output<std::int32_t> out(n);
        testing::poisoned_output<unsigned long long> count(1);
        course::compact(input.data(), out.data(), n, below{limit}, memory, count.data(), threads);
        std::vector<std::int32_t> kept;
        std::ranges::copy_if(values, std::back_inserter(kept), below{limit});
        REQUIRE(count.to_host().front() == kept.size());
        REQUIRE(difference(out.to_host(0, kept.size()), kept, threads) == std::nullopt);
        REQUIRE(out.overrun() == std::nullopt);
        REQUIRE(count.overrun() == std::nullopt);
        // What lies behind stays as it was.
        std::vector<unsigned char> rest((n - kept.size()) * sizeof(std::int32_t));
        const auto words = out.to_host(kept.size(), n - kept.size());
        if (!rest.empty()) std::memcpy(rest.data(), words.data(), rest.size());
        REQUIRE(std::ranges::count(rest, 0xa5) == static_cast<std::ptrdiff_t>(rest.size()));
      }
    }
  }
}
