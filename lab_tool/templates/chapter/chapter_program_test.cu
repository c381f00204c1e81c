// SPDX-License-Identifier: MIT
#include "NN_chapter_folder/chapter_program.cuh"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <optional>
#include <vector>

#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/reference.hpp"
#include "testing/poisoned_output.cuh"

TEST_CASE("every element is doubled, at awkward lengths, and twice") {
  const std::size_t n = GENERATE(1, 31, 32, 33, 255, 256, 257, 10'007);
  const unsigned threads = GENERATE(1U, 33U, 256U);
  CAPTURE(n, threads, Catch::getSeed());
  const std::vector<int> values = lab::small_integers<int>(n, 1000, Catch::getSeed());
  std::vector<int> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = 2 * values[i];

  const lab::device_buffer<int> in(values);
  testing::poisoned_output<int> out(n);
  for (int run = 0; run < 2; ++run) {
    out.poison();
    course::launch_chapter_program(in.data(), out.data(), n, threads);
    REQUIRE(lab::first_difference<int>(out.to_host(), expected) == std::nullopt);
    REQUIRE(out.overrun() == std::nullopt);
  }
}

TEST_CASE("an empty vector launches nothing") {
  REQUIRE_NOTHROW(course::launch_chapter_program<int>(nullptr, nullptr, 0, 256));
}
