// SPDX-License-Identifier: MIT
// What the tests of chapters 03 and 04 demand of a reduction that ends on the device, whichever
// block finishes it. A `Reduction` has
//   reduce(values, n, operation, partials, result, blocks, threads)
//   dot(a, b, n, partials, result, blocks, threads)
// as two_kernel_reduction and two_kernel_dot.
#pragma once

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/large_data.cuh"
#include "lab/reference.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace course::checks {

// Calls launch(partials, result) three times, each onto poison. All must leave the same bits, and
// touch nothing but the result and the `blocks` partials.
template <class T, class Launch>
T result_of_three(unsigned blocks, Launch launch) {
  testing::poisoned_output<T> partials(blocks);
  testing::poisoned_output<T> result(1);
  T first{};
  for (int run = 0; run < 3; ++run) {
    partials.poison();
    result.poison();
    launch(partials.data(), result.data());
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(partials.overrun() == std::nullopt);
    REQUIRE(result.overrun() == std::nullopt);
    const T got = result.to_host().front();
    if (run == 0) first = got;
    REQUIRE(std::memcmp(&got, &first, sizeof(T)) == 0);
  }
  return first;
}

template <class Reduction, class T, class Operation>
T reduced(Reduction& reduction, const T* values, std::size_t n, Operation operation,
          unsigned blocks, unsigned threads) {
  return result_of_three<T>(blocks, [&](T* partials, T* result) {
    reduction.reduce(values, n, operation, partials, result, blocks, threads);
  });
}

template <class Reduction, class T>
T dot(Reduction& reduction, const T* a, const T* b, std::size_t n, unsigned blocks,
      unsigned threads) {
  return result_of_three<T>(blocks, [&](T* partials, T* result) {
    reduction.dot(a, b, n, partials, result, blocks, threads);
  });
}

// The exact sum and dot product of whole numbers, as T.
template <class T>
T exact_sum(const std::vector<T>& values) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(lab::exact_sum<T>(values));
  } else {
    return static_cast<T>(lab::compensated_sum<T>(values).value);
  }
}
template <class T>
T exact_dot(const std::vector<T>& a, const std::vector<T>& b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(lab::exact_dot<T>(a, b));
  } else {
    return static_cast<T>(lab::compensated_dot<T>(a, b).value);
  }
}

// Counts at which something ends: a packet, a warp, a tile, a wave.
inline const std::vector<std::size_t>& awkward_counts() {
  static const std::vector<std::size_t> counts = {
      0,   1,   2,    3,    4,    5,    31,   32,   33,     255,
      256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 50'003, (1 << 16) + 7};
  return counts;
}

// Whole numbers whose sums and dot products are exact in T. So large that hardly any mistake
// cancels.
template <class T>
std::vector<T> whole_numbers(std::size_t n, std::uint64_t seed) {
  const std::int64_t magnitude = std::is_same_v<T, float>    ? lab::exact_dot_magnitude(n)
                                 : std::is_same_v<T, double> ? 1 << 16
                                 : sizeof(T) == 4            ? 150
                                                             : 1 << 20;
  return lab::small_integers<T>(n, magnitude, seed);
}

template <class T, class Reduction>
void awkward_counts_are_exact(Reduction& reduction) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const std::size_t n : awkward_counts()) {
    const std::vector<T> a = whole_numbers<T>(n, seed);
    const std::vector<T> b = whole_numbers<T>(n, ~seed);
    const lab::device_buffer<T> device_a(a);
    const lab::device_buffer<T> device_b(b);
    const T smallest = n == 0 ? minimum::identity<T>() : *std::min_element(a.begin(), a.end());
    const T largest = n == 0 ? maximum::identity<T>() : *std::max_element(a.begin(), a.end());
    for (const unsigned threads : testing::all_or_few({96, 256}, {96})) {
      for (const unsigned blocks : testing::all_or_few({1, 3, 70}, {3})) {
        CAPTURE(n, threads, blocks);
        REQUIRE(reduced(reduction, device_a.data(), n, plus{}, blocks, threads) == exact_sum(a));
        REQUIRE(reduced(reduction, device_a.data(), n, minimum{}, blocks, threads) == smallest);
        REQUIRE(reduced(reduction, device_a.data(), n, maximum{}, blocks, threads) == largest);
        REQUIRE(dot(reduction, device_a.data(), device_b.data(), n, blocks, threads) ==
                exact_dot(a, b));
      }
    }
  }
}

template <class Reduction>
void every_block_size_is_exact(Reduction& reduction) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  // So large that no value can make up for another that is missing or comes twice.
  const auto values = lab::small_integers<std::int64_t>(9'001, std::int64_t{1} << 48, seed);
  const lab::device_buffer<std::int64_t> input(values);
  const std::int64_t expected = lab::exact_sum<std::int64_t>(values);
  for (const unsigned threads : testing::every_block_size()) {
    CAPTURE(threads);
    REQUIRE(reduced(reduction, input.data(), values.size(), plus{}, 3, threads) == expected);
  }
}

// More blocks than any device runs at the same time, most of them without a term.
template <class Reduction>
void many_blocks_are_exact(Reduction& reduction) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const auto values = lab::small_integers<std::int64_t>(300'007, std::int64_t{1} << 43, seed);
  const lab::device_buffer<std::int64_t> input(values);
  const std::int64_t expected = lab::exact_sum<std::int64_t>(values);
  for (const unsigned blocks : testing::all_or_few({1'000, 10'007, 65'537}, {1'000})) {
    CAPTURE(blocks);
    REQUIRE(reduced(reduction, input.data(), values.size(), plus{}, blocks, 32) == expected);
  }
}

// Each block's share has a weight that only this block has: a sum that is off by w has lost the
// share of the block of weight w, or taken it twice.
template <class Reduction>
void no_share_is_lost(Reduction& reduction) {
  constexpr unsigned threads = 64;
  constexpr std::size_t tile =
      threads * elements<std::int64_t>::loads_in_flight * packet<std::int64_t>::size;
  for (const unsigned blocks : {1U, 2U, 31U, 32U, 33U, 52U}) {
    CAPTURE(blocks);
    // Block k has tile k alone, and 2^k in it: every set of shares has a sum of its own.
    std::vector<std::int64_t> values(blocks * tile, 0);
    for (std::size_t block = 0; block < blocks; ++block) {
      values[block * tile + block % tile] = std::int64_t{1} << block;
    }
    const lab::device_buffer<std::int64_t> input(values);
    REQUIRE(reduced(reduction, input.data(), values.size(), plus{}, blocks, threads) ==
            (std::int64_t{1} << blocks) - 1);
  }
}

// The input starts `offset` elements past an aligned address.
template <class Reduction>
void any_alignment_is_exact(Reduction& reduction) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const std::size_t n : {0, 1, 2, 3, 4, 7, 8, 1003}) {
    const std::vector<float> a = whole_numbers<float>(n, seed);
    const std::vector<float> b = whole_numbers<float>(n, ~seed);
    for (std::size_t a_offset = 0; a_offset < 4; ++a_offset) {
      for (std::size_t b_offset = 0; b_offset < 4; ++b_offset) {
        CAPTURE(n, a_offset, b_offset);
        lab::device_buffer<float> device_a(n + a_offset);
        lab::device_buffer<float> device_b(n + b_offset);
        device_a.copy_from(a, a_offset);
        device_b.copy_from(b, b_offset);
        REQUIRE(dot(reduction, device_a.data() + a_offset, device_b.data() + b_offset, n, 2, 33) ==
                exact_dot(a, b));
        REQUIRE(reduced(reduction, device_a.data() + a_offset, n, plus{}, 2, 33) == exact_sum(a));
      }
    }
  }
}

// Minimum, maximum and sum at once: 24 bytes, no arithmetic type, and no packet holds it.
struct summary {
  std::int64_t smallest;
  std::int64_t largest;
  std::int64_t sum;

  friend bool operator==(const summary&, const summary&) = default;
};

struct combine_summaries {
  __host__ __device__ summary operator()(const summary& x, const summary& y) const {
    return {minimum{}(x.smallest, y.smallest), maximum{}(x.largest, y.largest), x.sum + y.sum};
  }
  template <class T>
  __host__ __device__ static summary identity() {
    return {minimum::identity<std::int64_t>(), maximum::identity<std::int64_t>(), 0};
  }
};

inline std::vector<summary> summaries(std::size_t n, std::uint64_t seed) {
  std::vector<summary> values;
  values.reserve(n);
  for (const std::int64_t x : lab::small_integers<std::int64_t>(n, std::int64_t{1} << 40, seed)) {
    values.push_back({x, x, x});
  }
  return values;
}

template <class Reduction>
void any_trivially_copyable_type_is_exact(Reduction& reduction) {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  for (const std::size_t n : {0, 1, 1000, testing::brief_tests() ? 5'003 : 20'011}) {
    for (const unsigned blocks : {1U, 7U, testing::brief_tests() ? 30U : 300U}) {
      CAPTURE(n, blocks);
      const std::vector<summary> values = summaries(n, seed);
      summary expected = combine_summaries::identity<summary>();
      for (const summary& each : values) expected = combine_summaries{}(expected, each);
      const lab::device_buffer<summary> input(values);
      const summary got = reduced(reduction, input.data(), n, combine_summaries{}, blocks, 72);
      REQUIRE(got.smallest == expected.smallest);
      REQUIRE(got.largest == expected.largest);
      REQUIRE(got.sum == expected.sum);
    }
  }
}

template <class T, class Reduction>
void rounding_stays_within_the_bound(Reduction& reduction) {
  const std::size_t n = testing::brief_tests() ? 50'001 : 200'001;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{Catch::getSeed()}}) {
    const std::vector<T> spread = lab::spread_numbers<T>(n, seed);
    const auto [a, b] = lab::cancelling_vectors<T>(n, seed);
    const lab::device_buffer<T> device_spread(spread);
    const lab::device_buffer<T> device_a(a);
    const lab::device_buffer<T> device_b(b);
    for (const unsigned blocks : testing::all_or_few({1, 24, 1000}, {24})) {
      CAPTURE(seed, blocks);
      constexpr unsigned threads = 192;
      const T sum = reduced(reduction, device_spread.data(), n, plus{}, blocks, threads);
      REQUIRE(lab::outside_bound(sum, reduction_longest_chain<elements<T>>(n, blocks, threads),
                                 lab::compensated_sum<T>(spread)) == std::nullopt);
      const T product = dot(reduction, device_a.data(), device_b.data(), n, blocks, threads);
      REQUIRE(lab::outside_bound(product, reduction_longest_chain<products<T>>(n, blocks, threads),
                                 lab::compensated_dot<T>(a, b)) == std::nullopt);
    }
  }
}

// The bound is no excuse: of positive numbers it is tighter than any block's share.
template <class T, class Reduction>
void the_bound_notices_a_lost_share(Reduction& reduction) {
  constexpr std::size_t n = 200'000;
  constexpr unsigned blocks = 24;
  constexpr unsigned threads = 192;
  std::vector<T> values = lab::spread_numbers<T>(n, Catch::getSeed());
  for (T& value : values) value = std::fabs(value);
  const lab::device_buffer<T> input(values);
  lab::device_buffer<T> partials(blocks);
  lab::device_buffer<T> result(1);
  reduction.reduce(input.data(), n, plus{}, partials.data(), result.data(), blocks, threads);
  const T sum = result.to_host().front();
  const lab::sum_reference reference = lab::compensated_sum<T>(values);
  const std::uint64_t chain = reduction_longest_chain<elements<T>>(n, blocks, threads);
  REQUIRE(lab::outside_bound(sum, chain, reference) == std::nullopt);
  for (const T share : partials.to_host()) {
    CHECK(lab::outside_bound(sum - share, chain, reference) != std::nullopt);
  }
}

// 2^31 terms and some, of a byte each, so that a laptop has the memory. Each term that counts has a
// weight of its own.
template <class Reduction>
void more_than_two_to_the_31_terms_are_exact(Reduction& reduction) {
  constexpr std::size_t n = (std::size_t{1} << 31) + 4'099;
  if (testing::brief_tests()) SKIP("LAB_BRIEF_TESTS is set");
  if (lab::available_memory().device < 2 * n) SKIP("4 GB of memory are needed");
  lab::device_buffer<std::int8_t> values(n);
  values.fill_bytes(0);
  std::int8_t weight = 1;
  for (const std::size_t place : {std::size_t{5}, (std::size_t{1} << 31) - 1, n - 4'099, n - 1}) {
    values.copy_from(std::vector<std::int8_t>{weight}, place);
    weight = static_cast<std::int8_t>(2 * weight);
  }
  lab::device_buffer<std::int8_t> partials(264);
  lab::device_buffer<std::int8_t> result(1);
  reduction.reduce(values.data(), n, plus{}, partials.data(), result.data(), 264, 256);
  REQUIRE(result.to_host().front() == 1 + 2 + 4 + 8);
}

template <class Reduction>
void more_than_two_to_the_32_terms_are_exact(Reduction& reduction) {
  using element = std::int32_t;
  constexpr std::size_t n = lab::large_count;
  if (const auto reason = lab::why_no_large_data(2 * n * sizeof(element))) SKIP(*reason);
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const auto a = lab::large_vector<element>(0, 60, seed);
  const auto b = lab::large_vector<element>(0, 60, ~seed);
  std::int64_t sum = 0;
  std::int64_t product = 0;
  // The last two windows overlap: from the third one on, the rest at once.
  for (const std::size_t first :
       {lab::large_windows[0], lab::large_windows[1], lab::large_windows[2]}) {
    const std::size_t count = first == lab::large_windows[2] ? n - first : lab::large_window;
    const auto a_window = a.to_host(first, count);
    sum += lab::exact_sum<element>(a_window);
    product += lab::exact_dot<element>(a_window, b.to_host(first, count));
  }
  REQUIRE(reduced(reduction, a.data(), n, plus{}, 1056, 256) == sum);
  REQUIRE(dot(reduction, a.data(), b.data(), n, 1056, 256) == product);
}

}  // namespace course::checks
