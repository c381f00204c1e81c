// SPDX-License-Identifier: MIT
// The work itself: the counts are right, to the last bit, on the host and on the device, however
// the tiles are handed out.
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER  // A failed check prints what is wrong.
#include "05_work_queue/mandelbrot.cuh"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "05_work_queue/fast_hand_out.cuh"
#include "05_work_queue/mandelbrot_reference.hpp"
#include "05_work_queue/process_items.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "05_work_queue/tile_program.cuh"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/reference.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using course::fixed;
using course::tile_index;
__extension__ using int128 = __int128;

__global__ void count_all(const fixed* cx, const fixed* cy, std::uint32_t* counts, unsigned n,
                          std::uint32_t limit) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[i] = course::escape_count(cx[i], cy[i], limit);
}

std::vector<std::uint32_t> counts_on_device(const std::vector<fixed>& cx,
                                            const std::vector<fixed>& cy, std::uint32_t limit) {
  const lab::device_buffer<fixed> device_cx(cx);
  const lab::device_buffer<fixed> device_cy(cy);
  lab::device_buffer<std::uint32_t> counts(cx.size());
  const auto n = static_cast<unsigned>(cx.size());
  count_all<<<(n + 127) / 128, 128>>>(device_cx.data(), device_cy.data(), counts.data(), n, limit);
  CUDA_CHECK(cudaGetLastError());
  return counts.to_host();
}

void check_counts(const std::vector<fixed>& cx, const std::vector<fixed>& cy, std::uint32_t limit) {
  CAPTURE(limit);
  std::vector<std::uint32_t> expected(cx.size());
  std::vector<std::uint32_t> in_64_bits(cx.size());
  std::vector<std::uint32_t> on_host(cx.size());
  for (std::size_t i = 0; i < cx.size(); ++i) {
    expected[i] = course::reference_escape_count<int128>(cx[i], cy[i], limit);
    in_64_bits[i] = course::reference_escape_count(cx[i], cy[i], limit);
    on_host[i] = course::escape_count(cx[i], cy[i], limit);
  }
  REQUIRE(lab::first_difference<std::uint32_t>(in_64_bits, expected) == std::nullopt);
  REQUIRE(lab::first_difference<std::uint32_t>(on_host, expected) == std::nullopt);
  REQUIRE(lab::first_difference<std::uint32_t>(counts_on_device(cx, cy, limit), expected) ==
          std::nullopt);
}

// What is wrong with a picture that this way to hand out its tiles makes, launched twice.
template <class HandOut, class Prepare>
std::optional<std::string> wrong_picture(const course::picture& of, const HandOut& hand_out,
                                         unsigned blocks, unsigned threads, Prepare prepare) {
  const std::vector<std::uint32_t> expected = course::reference_counts(of);
  testing::poisoned_output<std::uint32_t> counts(of.pixel_count());
  for (int run = 0; run < 2; ++run) {
    counts.poison();
    prepare();
    course::launch_processing(hand_out,
                              course::render_tiles{.drawn_picture = of, .counts = counts.data()},
                              blocks, threads);
    if (auto wrong = lab::first_difference<std::uint32_t>(counts.to_host(), expected)) return wrong;
    if (auto wrong = counts.overrun()) return wrong;
  }
  return std::nullopt;
}

void check_all_ways(const course::picture& of, unsigned blocks, unsigned threads) {
  CAPTURE(of.size, of.tile, of.iterations, blocks, threads);
  const std::vector<tile_index> tiles = course::tiles_by_row(of);
  const lab::device_buffer<tile_index> items(tiles);
  course::work_queue_memory<tile_index> memory(tiles);
  const course::work_queue<tile_index> queue = memory.queue();
  const auto nothing = [] {};
  const auto reset = [&] { memory.reset(); };
  const std::size_t n = tiles.size();
  const auto each = static_cast<unsigned>(n);

  CHECK(wrong_picture(of, course::contiguous_ranges<tile_index>{items.data(), n}, blocks, threads,
                      nothing) == std::nullopt);
  CHECK(wrong_picture(of, course::grid_stride<tile_index>{items.data(), n}, blocks, threads,
                      nothing) == std::nullopt);
  CHECK(wrong_picture(of, course::one_block_each<tile_index>{items.data(), n}, each, threads,
                      nothing) == std::nullopt);
  CHECK(wrong_picture(of, course::by_queue<tile_index>{queue}, blocks, threads, reset) ==
        std::nullopt);
  CHECK(wrong_picture(of, course::by_queue_first_static<tile_index>{queue}, blocks, threads,
                      reset) == std::nullopt);
  CHECK(wrong_picture(of, course::by_queue_in_chunks<tile_index>{queue, 3}, blocks, threads,
                      reset) == std::nullopt);
  CHECK(wrong_picture(of, course::by_queue_ahead<tile_index>{queue}, blocks, threads, reset) ==
        std::nullopt);
  CHECK(wrong_picture(of, course::by_queue_each_warp<tile_index>{queue}, blocks, threads, reset) ==
        std::nullopt);
  course::work_queue_memory<tile_index> by_kernel(n);
  CHECK(wrong_picture(of, course::by_queue<tile_index>{by_kernel.queue()}, blocks, threads,
                      [&] { course::fill_expensive_first(by_kernel, of); }) == std::nullopt);
}

}  // namespace

TEST_CASE("counts are those of the reference, to the last bit, on the host and on the device") {
  const std::uint64_t seed = GENERATE(std::uint64_t{1}, std::uint64_t{Catch::getSeed()});
  CAPTURE(seed);
  // All over the allowed square; over the part where orbits last long; and its very edges.
  std::vector<fixed> cx, cy;
  const auto add_spread = [&](std::size_t count, double centre, double reach) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto within = static_cast<std::int64_t>(course::to_fixed(reach));
      cx.push_back(course::to_fixed(centre) +
                   static_cast<fixed>(lab::random_integer(seed, 2 * i, within)));
      cy.push_back(static_cast<fixed>(lab::random_integer(seed, 2 * i + 1, within)));
    }
  };
  add_spread(2'000, 0, 3.999);
  add_spread(testing::brief_tests() ? 500 : 5'000, -0.75, 1.25);
  constexpr fixed edge = course::to_fixed(4) - 1;
  for (const fixed x : {-edge, fixed{-1}, fixed{0}, fixed{1}, edge}) {
    for (const fixed y : {-edge, fixed{-1}, fixed{0}, fixed{1}, edge}) {
      cx.push_back(x);
      cy.push_back(y);
    }
  }
  for (const std::uint32_t limit : {1U, 2U, 3U, 100U, 1000U}) check_counts(cx, cy, limit);
}

TEST_CASE("the first steps are those of exact arithmetic") {
  // With c in multiples of 1/32, z_3 has 20 bits behind the point and |z_3|^2 has 40: nothing is
  // rounded, neither here nor in double.
  constexpr std::uint32_t exact_steps = 3;
  for (int i = -96; i <= 96; ++i) {
    for (int j = -96; j <= 96; ++j) {
      const double cx = i / 32.0;
      const double cy = j / 32.0;
      double x = 0;
      double y = 0;
      std::uint32_t n = 0;
      for (; n <= exact_steps && x * x + y * y <= 4; ++n) {
        const double next_x = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next_x;
      }
      CAPTURE(cx, cy);
      REQUIRE(course::escape_count(course::to_fixed(cx), course::to_fixed(cy), exact_steps + 1) ==
              n);
      REQUIRE(course::reference_escape_count(course::to_fixed(cx), course::to_fixed(cy),
                                             exact_steps + 1) == n);
    }
  }
}

TEST_CASE("points that are known to stay, and points that are known to leave") {
  const auto count = [](double cx, double cy) {
    return course::escape_count(course::to_fixed(cx), course::to_fixed(cy), 10'000);
  };
  // The middle of the heart, of the disc beside it, the tip of the antenna, a dendrite.
  CHECK(count(0, 0) == 10'000);
  CHECK(count(-1, 0) == 10'000);
  CHECK(count(-2, 0) == 10'000);
  CHECK(count(0.25, 0) == 10'000);
  CHECK(count(0, 1) == 10'000);
  CHECK(count(1, 0) == 3);        // 0, 1, 2, 5
  CHECK(count(3, 0) == 1);        // 0, 3
  CHECK(count(-2.0625, 0) == 1);  // 0, -2.0625
  CHECK(count(0, 1.5) == 2);      // 0, 1.5i, -2.25 + 1.5i
  CHECK(course::escape_count(0, 0, 1) == 1);
}

TEST_CASE("the pixels' coordinates are evenly spread, to within one unit") {
  for (const course::view& part : course::views) {
    for (const std::uint32_t size : {1U, 7U, 1000U, course::largest_picture}) {
      const course::picture of = course::picture_of(part, size, 1, 1);
      for (const std::uint32_t pixel : {0U, size / 3, size - 1}) {
        CAPTURE(part.name, size, pixel);
        const long double offset = static_cast<long double>(part.width) * pixel / size;
        CHECK(std::fabs(of.cx(pixel) - part.left - offset) <= 1);
        CHECK(std::fabs(of.cy(pixel) - part.top - offset) <= 1);
      }
      // escape_count's precondition.
      constexpr fixed bound = course::to_fixed(4);
      CHECK(std::max(std::abs(of.cx(0)), std::abs(of.cx(size - 1))) < bound);
      CHECK(std::max(std::abs(of.cy(0)), std::abs(of.cy(size - 1))) < bound);
    }
  }
}

TEST_CASE("the tiles cover each pixel once, whether or not they divide the picture") {
  for (const auto& [size, tile] :
       {std::pair{64U, 8U}, {64U, 7U}, {65U, 8U}, {1U, 1U}, {10U, 100U}, {100U, 99U}, {37U, 37U}}) {
    CAPTURE(size, tile);
    const course::picture of = course::picture_of(course::views[0], size, tile, 1);
    std::vector<int> covered(of.pixel_count(), 0);
    const std::vector<tile_index> tiles = course::tiles_by_row(of);
    REQUIRE(tiles.size() == of.tile_count());
    for (const tile_index each : tiles) {
      const course::tile_area area = course::area_of(of, each);
      REQUIRE(area.width > 0);
      REQUIRE(area.height > 0);
      for (std::uint32_t row = area.top; row < area.top + area.height; ++row) {
        for (std::uint32_t column = area.left; column < area.left + area.width; ++column) {
          ++covered.at(std::size_t{row} * size + column);
        }
      }
    }
    REQUIRE(covered == std::vector<int>(of.pixel_count(), 1));
  }
}

TEST_CASE("the costs of the default picture's tiles differ by a factor of a thousand") {
  const course::picture of = course::picture_of(course::views[0], 256, 16, 2048);
  const std::vector<std::uint32_t> counts = course::reference_counts(of);
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (const tile_index each : course::tiles_by_row(of)) {
    const std::uint64_t steps = course::steps_of(of, each, counts);
    least = std::min(least, steps);
    most = std::max(most, steps);
  }
  CAPTURE(least, most);
  CHECK(most >= 1000 * least);
}

TEST_CASE("render_from_queue makes the picture of the reference, in launch after launch") {
  for (const auto& [size, tile, blocks, threads] : {std::tuple{64U, 8U, 5U, 64U},
                                                    {61U, 7U, 200U, 33U},
                                                    {40U, 64U, 3U, 256U},
                                                    {1U, 1U, 2U, 1U}}) {
    CAPTURE(size, tile, blocks, threads);
    const course::picture of = course::picture_of(course::views[0], size, tile, 300);
    const std::vector<std::uint32_t> expected = course::reference_counts(of);
    course::work_queue_memory<tile_index> tiles(course::tiles_by_row(of));
    testing::poisoned_output<std::uint32_t> counts(of.pixel_count());
    for (int launch = 0; launch < 2; ++launch) {
      counts.poison();
      course::render_on_device(of, tiles, counts.data(), blocks, threads);
      REQUIRE(lab::first_difference<std::uint32_t>(counts.to_host(), expected) == std::nullopt);
      REQUIRE(counts.overrun() == std::nullopt);
    }
  }
}

TEST_CASE("every way to hand out the tiles makes the same picture as the reference") {
  const course::view& part = course::views[GENERATE(0, 1, 2)];
  CAPTURE(part.name);
  check_all_ways(course::picture_of(part, 64, 8, 300), 5, 64);
  check_all_ways(course::picture_of(part, 61, 7, 300), 40, 33);
  check_all_ways(course::picture_of(part, 50, 64, 100), 3, 256);
  check_all_ways(course::picture_of(part, 33, 1, 100), 7, 32);
  check_all_ways(course::picture_of(part, 1, 1, 10), 2, 1);
  check_all_ways(course::picture_of(part, 40, 5, 1), 4, 1024);
}

TEST_CASE("the histogram of the blocks' shared bins is that of the counts") {
  // Counts on both sides of the last bin.
  const course::picture of = course::picture_of(course::views[0], 96, 10, 3000);
  const std::vector<std::uint32_t> counts = course::reference_counts(of);
  std::vector<unsigned long long> expected(course::histogram_bins, 0);
  for (const std::uint32_t count : counts) {
    ++expected[std::min(count, course::histogram_bins - 1)];
  }
  const std::vector<tile_index> tiles = course::tiles_by_row(of);
  const lab::device_buffer<tile_index> items(tiles);
  course::work_queue_memory<tile_index> memory(tiles);
  lab::device_buffer<std::uint32_t> device_counts(of.pixel_count());
  lab::device_buffer<unsigned long long> histogram(course::histogram_bins);
  const course::render_tiles_with_histogram work = {
      .render = {.drawn_picture = of, .counts = device_counts.data()},
      .histogram = histogram.data()};
  const auto check = [&](const auto& hand_out, unsigned blocks, unsigned threads) {
    CAPTURE(blocks, threads);
    histogram.fill_bytes(0);
    course::launch_processing(hand_out, work, blocks, threads);
    REQUIRE(lab::first_difference<unsigned long long>(histogram.to_host(), expected) ==
            std::nullopt);
    REQUIRE(device_counts.to_host() == counts);
  };
  for (const unsigned threads : {32U, 256U, 1000U}) {
    memory.reset();
    check(course::by_queue<tile_index>{memory.queue()}, 6, threads);
    // Without a barrier of its own: those of the prologue and of the epilogue must do.
    const auto each = static_cast<unsigned>(tiles.size());
    check(course::one_block_each<tile_index>{items.data(), tiles.size()}, each, threads);
  }
}

TEST_CASE("a kernel fills the queue with each tile once, the expensive ones first") {
  const course::picture of = course::picture_of(course::views[0], 200, 9, 500);
  std::vector<tile_index> expected = course::tiles_by_row(of);
  course::work_queue_memory<tile_index> memory(of.tile_count());
  lab::device_buffer<tile_index> items(of.tile_count());
  for (int run = 0; run < 2; ++run) {
    course::fill_expensive_first(memory, of);
    REQUIRE(memory.size() == of.tile_count());
    CUDA_CHECK(cudaMemcpy(items.data(), memory.items(), of.tile_count() * sizeof(tile_index),
                          cudaMemcpyDeviceToDevice));
    std::vector<tile_index> filled = items.to_host();
    const auto is_expensive = [&](tile_index each) {
      const course::tile_area area = course::area_of(of, each);
      return course::reference_escape_count(of.cx(area.left + area.width / 2),
                                            of.cy(area.top + area.height / 2),
                                            course::steps_of_estimate) == course::steps_of_estimate;
    };
    CHECK(std::is_partitioned(filled.begin(), filled.end(), is_expensive));
    CHECK(is_expensive(filled.front()));
    CHECK_FALSE(is_expensive(filled.back()));
    const auto by_place = [](tile_index x, tile_index y) {
      return std::pair(x.row, x.column) < std::pair(y.row, y.column);
    };
    std::sort(filled.begin(), filled.end(), by_place);
    REQUIRE(filled == expected);
  }
}
