// SPDX-License-Identifier: MIT
// Blocks take over blocks, and each tile is done exactly once.
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER  // A failed check prints what is wrong.
#include "06_work_stealing/work_stealing.cuh"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "04_last_block_guard/last_block.cuh"
#include "04_last_block_guard/last_block_guard.cuh"
#include "05_work_queue/mandelbrot_reference.hpp"
#include "05_work_queue/process_items.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "06_work_stealing/canceled_blocks.cuh"
#include "06_work_stealing/fast_work_stealing.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/reference.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using course::tile_index;

using lab::device_cancels_blocks;
unsigned multiprocessors() { return static_cast<unsigned>(lab::describe_device().multiprocessors); }

std::optional<std::string> wrong_vec_add(std::size_t n, unsigned threads, std::uint64_t seed) {
  const std::vector<int> a = lab::small_integers<int>(n, 1'000'000, seed);
  const std::vector<int> b = lab::small_integers<int>(n, 1'000'000, ~seed);
  std::vector<int> expected = lab::small_integers<int>(n, 1'000'000, seed + 1);
  const lab::device_buffer<int> device_a(a);
  const lab::device_buffer<int> device_b(b);
  lab::device_buffer<int> c(expected);
  const unsigned blocks = course::covering_blocks(n, threads);
  testing::poisoned_output<unsigned> added_by_block(blocks);
  for (int run = 0; run < 2; ++run) {
    CUDA_CHECK(cudaMemset(added_by_block.data(), 0, blocks * sizeof(unsigned)));
    course::vec_add_on_device(device_a.data(), device_b.data(), c.data(), n, added_by_block.data(),
                              threads);
    for (std::size_t i = 0; i < n; ++i) expected[i] += a[i] + b[i];
    if (auto wrong = lab::first_difference<int>(c.to_host(), expected)) return wrong;
    if (auto wrong = added_by_block.overrun()) return wrong;
    const std::vector<unsigned> added = added_by_block.to_host();
    const auto sum = std::accumulate(added.begin(), added.end(), std::size_t{0});
    // Every block that runs adds at least its own tile.
    const auto idle = static_cast<unsigned>(std::count(added.begin(), added.end(), 0U));
    if (sum != n || idle == blocks || (idle > 0 && !device_cancels_blocks())) {
      return std::to_string(sum) + " of " + std::to_string(n) + " elements were added, by " +
             std::to_string(blocks - idle) + " of " + std::to_string(blocks) + " blocks";
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("vec_add adds each element once, and each launched block counts what it added") {
  const std::uint64_t seed = Catch::getSeed();
  const std::size_t most = testing::brief_tests() ? 5'000 : 100'003;
  const std::size_t n = GENERATE_COPY(as<std::size_t>{}, 1, 31, 32, 33, 255, 256, 257, most);
  const unsigned threads = GENERATE(32, 256, 1000, 1024);
  CAPTURE(seed, n, threads);
  REQUIRE(wrong_vec_add(n, threads, seed) == std::nullopt);
}

TEST_CASE("a grid of rank 1, 2 or 3 has enough blocks, and few too many") {
  for (const unsigned blocks :
       {1U, 2U, 3U, 7U, 8U, 9U, 64U, 65U, 1000U, 1001U, 12'345'678U, 0x7fffffffU}) {
    for (const int rank : {1, 2, 3}) {
      CAPTURE(blocks, rank);
      const dim3 grid = course::grid_of_rank(rank, blocks);
      const std::uint64_t got = std::uint64_t{grid.x} * grid.y * grid.z;
      CHECK(got >= blocks);
      // Each dimension is rounded up once.
      CHECK(got < std::uint64_t{blocks} + std::uint64_t{grid.x} * grid.y + grid.y * grid.z +
                      std::uint64_t{grid.z} * grid.x);
      CHECK(grid.y <= 65'535);
      CHECK(grid.z <= 65'535);
      if (rank < 3) CHECK(grid.z == 1);
      if (rank < 2) CHECK(grid.y == 1);
    }
  }
}

TEMPLATE_TEST_CASE("chapter 01's sum, with blocks that take over others", "", float, double,
                   std::int8_t, std::int64_t) {
  const std::uint64_t seed = Catch::getSeed();
  const std::size_t most = testing::brief_tests() ? 5'003 : 50'003;
  const std::size_t n = GENERATE_COPY(as<std::size_t>{}, 0, 1, 3, 15, 16, 17, 255, 1023, most);
  CAPTURE(seed, n);
  const std::vector<TestType> a = lab::small_integers<TestType>(n, 60, seed);
  const std::vector<TestType> b = lab::small_integers<TestType>(n, 60, ~seed);
  std::vector<TestType> expected(n);
  std::transform(a.begin(), a.end(), b.begin(), expected.begin(), std::plus<TestType>{});
  for (const std::size_t offset : {0, 1}) {
    for (const std::size_t offset_of_c : {offset, std::size_t{0}}) {
      lab::device_buffer<TestType> device_a(n + offset);
      lab::device_buffer<TestType> device_b(n + offset);
      device_a.copy_from(a, offset);
      device_b.copy_from(b, offset);
      const TestType* const x = device_a.data() + offset;
      const TestType* const y = device_b.data() + offset;
      testing::poisoned_output<TestType> c(n, offset_of_c);
      for (const unsigned threads : {1U, 33U, 256U}) {
        CAPTURE(offset, offset_of_c, threads);
        const auto check = [&](const auto& launch) {
          c.poison();
          launch();
          REQUIRE(lab::first_difference<TestType>(c.to_host(), expected) == std::nullopt);
          REQUIRE(c.overrun() == std::nullopt);
        };
        check([&] { course::launch_add_canceling<1>(x, y, c.data(), n, threads); });
        check([&] { course::launch_add_canceling<2>(x, y, c.data(), n, threads); });
        check([&] { course::launch_add_canceling<3>(x, y, c.data(), n, threads); });
        check([&] { course::launch_add_canceling_sixteen_bytes(x, y, c.data(), n, threads); });
      }
    }
  }
}

namespace {

struct numbered {
  std::uint32_t value;
};

struct no_work {
  __device__ void begin() const {}
  __device__ void operator()(numbered, const course::team&) const {}
  __device__ void end() const {}
  __device__ std::size_t number(numbered item) const { return item.value; }
};

struct tally {
  unsigned launched;
  std::vector<unsigned> claims;
};

// `count` items in a grid of `blocks` (>= count) blocks.
tally tally_of(std::size_t count, unsigned blocks, unsigned threads) {
  std::vector<numbered> items(count);
  for (std::size_t i = 0; i < count; ++i) items[i].value = static_cast<std::uint32_t>(i);
  const lab::device_buffer<numbered> device_items(items);
  lab::device_buffer<unsigned> launched(1);
  lab::device_buffer<unsigned> claims(count);
  launched.fill_bytes(0);
  claims.fill_bytes(0);
  course::launch_processing(
      course::by_canceling<numbered>{device_items.data(), count},
      course::tallied<no_work>{.work = {}, .launched = launched.data(), .claims = claims.data()},
      blocks, threads);
  return {launched.to_host().front(), claims.to_host()};
}

void check_each_once(std::size_t count, unsigned blocks, unsigned threads) {
  CAPTURE(count, blocks, threads);
  const tally got = tally_of(count, blocks, threads);
  REQUIRE(lab::first_difference<unsigned>(got.claims, std::vector<unsigned>(count, 1)) ==
          std::nullopt);
  REQUIRE(got.launched >= 1);
  REQUIRE(got.launched <= blocks);
  if (!device_cancels_blocks()) REQUIRE(got.launched == blocks);
}

}  // namespace

TEST_CASE("each item is done once, whatever the number of items and blocks") {
  for (const unsigned count : testing::all_or_few({0, 1, 2, 31, 1000, 10'000}, {0, 1, 100})) {
    check_each_once(count, std::max(count, 1U), 32);
    check_each_once(count, count + 50, 64);
  }
  check_each_once(testing::brief_tests() ? 10'000 : 10'000'000,
                  testing::brief_tests() ? 10'000 : 10'000'000, 32);
}

TEST_CASE("each item is done once by blocks of every size") {
  for (const unsigned threads : testing::every_block_size()) check_each_once(50, 50, threads);
}

TEST_CASE("blocks that run take over blocks that have not started") {
  if (!device_cancels_blocks()) SKIP("this device cancels no blocks");
  const unsigned blocks = 1000 * multiprocessors();
  CHECK(tally_of(blocks, blocks, 64).launched < blocks);
}

namespace {

template <class HandOut>
void check_picture(const course::picture& of, const HandOut& hand_out, unsigned blocks,
                   unsigned threads) {
  const std::vector<std::uint32_t> expected = course::reference_counts(of);
  std::vector<unsigned long long> expected_histogram(course::histogram_bins, 0);
  for (const std::uint32_t count : expected) {
    ++expected_histogram[std::min(count, course::histogram_bins - 1)];
  }
  testing::poisoned_output<std::uint32_t> counts(of.pixel_count());
  lab::device_buffer<unsigned long long> histogram(course::histogram_bins);
  histogram.fill_bytes(0);
  const course::render_tiles render = {.drawn_picture = of, .counts = counts.data()};
  course::launch_processing(hand_out, render, blocks, threads);
  REQUIRE(lab::first_difference<std::uint32_t>(counts.to_host(), expected) == std::nullopt);
  counts.poison();
  course::launch_processing(
      hand_out,
      course::render_tiles_with_histogram{.render = render, .histogram = histogram.data()}, blocks,
      threads);
  REQUIRE(lab::first_difference<std::uint32_t>(counts.to_host(), expected) == std::nullopt);
  REQUIRE(lab::first_difference<unsigned long long>(histogram.to_host(), expected_histogram) ==
          std::nullopt);
  REQUIRE(counts.overrun() == std::nullopt);
}

}  // namespace

TEST_CASE("the tiles of a picture, with and without a histogram, are those of the reference") {
  for (const auto& [size, tile, threads] :
       {std::tuple{64U, 8U, 64U}, {61U, 7U, 100U}, {50U, 64U, 256U}, {1U, 1U, 32U}}) {
    CAPTURE(size, tile, threads);
    const course::picture of = course::picture_of(course::views[0], size, tile, 1500);
    const lab::device_buffer<tile_index> tiles(course::tiles_by_row(of));
    check_picture(of, course::by_canceling<tile_index>{tiles.data(), tiles.size()},
                  static_cast<unsigned>(tiles.size()), threads);
  }
}

TEST_CASE("the last tile's block finds all tiles' totals, in launch after launch") {
  const course::picture of = course::picture_of(course::views[0], 90, 4, 200);
  const std::vector<std::uint32_t> reference = course::reference_counts(of);
  const auto expected =
      std::accumulate(reference.begin(), reference.end(), static_cast<unsigned long long>(0));
  const lab::device_buffer<tile_index> tiles(course::tiles_by_row(of));
  const auto count = static_cast<unsigned>(tiles.size());
  lab::device_buffer<std::uint32_t> counts(of.pixel_count());
  lab::device_buffer<unsigned long long> totals(count);
  lab::device_buffer<unsigned long long> total(1);
  course::arrival_counter counter;
  for (const unsigned threads : {32U, 33U, 256U}) {
    for (int run = 0; run < (testing::brief_tests() ? 2 : 20); ++run) {
      CAPTURE(threads, run);
      totals.fill_bytes(0xff);
      total.fill_bytes(0xff);
      course::launch_total_count(of, tiles.data(), count, counts.data(), totals.data(),
                                 counter.data(), total.data(), threads);
      REQUIRE(total.to_host().front() == expected);
      REQUIRE(counter.value() == 0);
    }
  }
}

namespace {

// Wrong where blocks are canceled: a block that was taken over never comes to the guard.
__global__ void wait_for_all_blocks(unsigned* counter, unsigned* merges) {
  course::for_each_canceled_block<1>([=](dim3) {});
  if (course::last_block(counter) && threadIdx.x == 0) atomicAdd(merges, 1);
}

// Wrong where blocks are canceled: blockIdx is the calling block's own, whichever tile it works on.
__global__ void read_own_index(unsigned* claims) {
  course::for_each_canceled_block<1>([=](dim3) {
    if (threadIdx.x == 0) atomicAdd(claims + blockIdx.x, 1);
  });
}

}  // namespace

TEST_CASE("a guard that waits for all blocks never fires once blocks are canceled") {
  const unsigned blocks = 1000 * multiprocessors();
  course::arrival_counter counter;
  lab::device_buffer<unsigned> merges(1);
  merges.fill_bytes(0);
  wait_for_all_blocks<<<blocks, 32>>>(counter.data(), merges.data());
  CUDA_CHECK(cudaGetLastError());
  if (device_cancels_blocks()) {
    CHECK(merges.to_host().front() == 0);
    CHECK(counter.value() != 0);
  } else {
    CHECK(merges.to_host().front() == 1);
    CHECK(counter.value() == 0);
  }
}

TEST_CASE("blockIdx inside the lambda is not the index of the tile") {
  const unsigned blocks = 1000 * multiprocessors();
  lab::device_buffer<unsigned> claims(blocks);
  claims.fill_bytes(0);
  read_own_index<<<blocks, 32>>>(claims.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<unsigned> got = claims.to_host();
  CHECK(std::accumulate(got.begin(), got.end(), 0U) == blocks);
  const bool each_once = got == std::vector<unsigned>(blocks, 1);
  CHECK(each_once == !device_cancels_blocks());
}

TEST_CASE("a launch that cannot be is refused") {
  lab::device_buffer<float> x(std::vector<float>{1});
  CHECK_THROWS_AS(course::launch_add_canceling<1>(x.data(), x.data(), x.data(), 1, 2048),
                  lab::cuda_error);
  CHECK_THROWS_AS(
      course::launch_add_canceling<1>(x.data(), x.data(), x.data(), std::size_t{1} << 40, 1),
      std::invalid_argument);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
