// SPDX-License-Identifier: MIT
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER  // A failed check prints what is wrong.
#include "01_vector_add/fast_vector_add.cuh"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/large_data.cuh"
#include "lab/reference.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

enum class kernel { one_element, grid_stride, sixteen_bytes };

// `blocks` counts if the kernel's grid is free. The lesson's kernel adds floats.
template <class T>
void launch(kernel which, const T* a, const T* b, T* c, std::size_t n, unsigned blocks,
            unsigned threads) {
  switch (which) {
    case kernel::one_element:
      if constexpr (std::is_same_v<T, float>) course::launch_one_element(a, b, c, n, threads);
      return;
    case kernel::grid_stride:
      return course::launch_grid_stride(a, b, c, n, blocks, threads);
    case kernel::sixteen_bytes:
      return course::launch_sixteen_bytes(a, b, c, n, blocks, threads);
  }
}

// The kernels that add vectors of T.
template <class T>
std::vector<kernel> kernels_of() {
  if (std::is_same_v<T, float>) {
    return {kernel::one_element, kernel::grid_stride, kernel::sixteen_bytes};
  }
  return {kernel::grid_stride, kernel::sixteen_bytes};
}

// Element offsets of a, b and c from an address that is a multiple of 16 bytes.
struct offsets {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t c = 0;
};

// Launches the kernel twice, each time onto poison, and says what is wrong with c, if anything.
// The elements are small whole numbers: even T = std::int8_t holds every sum.
template <class T>
std::optional<std::string> wrong_sum(kernel which, std::size_t n, unsigned blocks, unsigned threads,
                                     std::uint64_t seed, offsets offset = {}) {
  const std::vector<T> a = lab::small_integers<T>(n, 60, seed);
  const std::vector<T> b = lab::small_integers<T>(n, 60, ~seed);
  std::vector<T> expected(n);
  std::transform(a.begin(), a.end(), b.begin(), expected.begin(), std::plus<T>{});

  const testing::misaligned_input<T> device_a(a, offset.a);
  const testing::misaligned_input<T> device_b(b, offset.b);
  testing::poisoned_output<T> c(n, offset.c);
  for (int run = 0; run < 2; ++run) {
    c.poison();
    launch(which, device_a.data(), device_b.data(), c.data(), n, blocks, threads);
    CUDA_CHECK(cudaDeviceSynchronize());
    if (auto wrong = lab::first_difference<T>(c.to_host(), expected)) return wrong;
    if (auto wrong = c.overrun()) return wrong;
  }
  return std::nullopt;
}

}  // namespace

CATCH_REGISTER_ENUM(kernel, kernel::one_element, kernel::grid_stride, kernel::sixteen_bytes)

TEMPLATE_TEST_CASE("every kernel adds vectors of awkward lengths", "", float, double, std::int8_t,
                   std::int32_t, std::int64_t) {
  const std::uint64_t seed = GENERATE(std::uint64_t{1}, std::uint64_t{Catch::getSeed()});
  const std::size_t n = GENERATE(1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095,
                                 4096, 4097, 50'003);
  CAPTURE(seed, n);
  for (const kernel which : kernels_of<TestType>()) {
    for (const unsigned threads : testing::all_or_few({1, 33, 256, 1024}, {33, 256})) {
      for (const unsigned blocks : testing::all_or_few({1, 3, 64}, {3})) {
        CAPTURE(which, threads, blocks);
        REQUIRE(wrong_sum<TestType>(which, n, blocks, threads, seed) == std::nullopt);
      }
    }
  }
}

TEST_CASE("every kernel adds more elements than its grid has threads, several times over") {
  const std::uint64_t seed = GENERATE(std::uint64_t{2}, std::uint64_t{Catch::getSeed()});
  const std::size_t n = testing::brief_tests() ? 50'007 : (1 << 20) + 7;
  CAPTURE(seed, n);
  for (const kernel which : kernels_of<float>()) {
    CAPTURE(which);
    REQUIRE(wrong_sum<float>(which, n, 40, 256, seed) == std::nullopt);
  }
}

TEST_CASE("sixteen-byte loads take pointers of any alignment") {
  const std::uint64_t seed = Catch::getSeed();
  const std::size_t n = GENERATE(1, 2, 3, 4, 7, 8, 1003);
  CAPTURE(seed, n);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      for (std::size_t c = 0; c < 4; ++c) {
        CAPTURE(a, b, c);
        REQUIRE(wrong_sum<float>(kernel::sixteen_bytes, n, 2, 32, seed, {a, b, c}) == std::nullopt);
      }
    }
  }
  for (std::size_t a = 0; a < 16; ++a) {
    CAPTURE(a);
    REQUIRE(wrong_sum<std::int8_t>(kernel::sixteen_bytes, n, 2, 32, seed, {a, a, a}) ==
            std::nullopt);
    REQUIRE(wrong_sum<std::int8_t>(kernel::sixteen_bytes, n, 2, 32, seed, {a, 3, 0}) ==
            std::nullopt);
  }
}

TEST_CASE("every kernel adds each element once, so that the sum may replace an input") {
  const std::uint64_t seed = Catch::getSeed();
  const std::size_t n = GENERATE(1, 31, 1000, 20'011);
  CAPTURE(seed, n);
  const std::vector<float> a = lab::small_integers<float>(n, 1'000'000, seed);
  const std::vector<float> b = lab::small_integers<float>(n, 1'000'000, ~seed);
  for (const kernel which : kernels_of<float>()) {
    for (const unsigned blocks : {1U, 4U}) {
      CAPTURE(which, blocks);
      lab::device_buffer<float> sum(a);
      const lab::device_buffer<float> device_b(b);
      std::vector<float> expected = a;
      for (int run = 0; run < 2; ++run) {
        launch<float>(which, sum.data(), device_b.data(), sum.data(), n, blocks, 96);
        std::transform(expected.begin(), expected.end(), b.begin(), expected.begin(), std::plus{});
        REQUIRE(lab::first_difference<float>(sum.to_host(), expected) == std::nullopt);
      }
      REQUIRE(device_b.to_host() == b);
    }
  }
}

TEST_CASE("an empty vector launches nothing") {
  // A grid of 0 blocks would be refused, so what returns has not launched.
  for (const kernel which : kernels_of<float>()) {
    CAPTURE(which);
    REQUIRE_NOTHROW(launch<float>(which, nullptr, nullptr, nullptr, 0, 0, 256));
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("every kernel adds vectors in managed memory") {
  constexpr std::size_t n = 10'007;
  for (const kernel which : kernels_of<float>()) {
    CAPTURE(which);
    lab::managed_buffer<float> a(n);
    lab::managed_buffer<float> b(n);
    lab::managed_buffer<float> c(n);
    std::vector<float> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      a.data()[i] = static_cast<float>(i);
      b.data()[i] = static_cast<float>(2 * i);
      c.data()[i] = -1;
      expected[i] = static_cast<float>(3 * i);
    }
    launch(which, a.data(), b.data(), c.data(), n, 5, 128);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(lab::first_difference<float>(c.span(), expected) == std::nullopt);
  }
}

TEST_CASE("a grid that CUDA does not have is refused") {
  using Catch::Matchers::ContainsSubstring;
  constexpr std::size_t most = 0x7fffffff;
  CHECK(course::covering_blocks(0, 256) == 0);
  CHECK(course::covering_blocks(1, 256) == 1);
  CHECK(course::covering_blocks(257, 256) == 2);
  CHECK(course::covering_blocks(most, 1) == most);
  CHECK_THROWS_MATCHES(
      course::covering_blocks(most + 1, 1), std::invalid_argument,
      Catch::Matchers::MessageMatches(ContainsSubstring("2147483648 blocks are needed")));

  lab::device_buffer<float> x(std::vector<float>{1});
  const auto launch_with = [&x](unsigned blocks, unsigned threads) {
    course::launch_grid_stride(x.data(), x.data(), x.data(), 1, blocks, threads);
  };
  CHECK_THROWS_MATCHES(launch_with(1, 2048), lab::cuda_error,
                       Catch::Matchers::MessageMatches(ContainsSubstring("cudaErrorInvalidValue")));
  CHECK_THROWS_AS(launch_with(0, 256), lab::cuda_error);
  CHECK_NOTHROW(launch_with(1, 256));
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEMPLATE_TEST_CASE("every kernel adds more than 2^32 elements", "", std::int8_t, float) {
  using element = TestType;
  constexpr std::size_t n = lab::large_count;
  if (const auto reason = lab::why_no_large_data(3 * n * sizeof(element))) SKIP(*reason);
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const lab::device_buffer<element> a = lab::large_vector<element>(3, 60, seed);
  const lab::device_buffer<element> b = lab::large_vector<element>(4, 60, ~seed);
  testing::poisoned_output<element> c(n);
  // Floats take four times as long: only the kernel that adds nothing else.
  const std::vector<kernel> kernels = std::is_same_v<element, float>
                                          ? std::vector<kernel>{kernel::one_element}
                                          : kernels_of<element>();
  for (const kernel which : kernels) {
    CAPTURE(which);
    c.poison();
    launch(which, a.data(), b.data(), c.data(), n, 132 * 32, 256);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(c.overrun() == std::nullopt);
    // 2^28 at a time, so that the host needs little memory.
    constexpr std::size_t chunk = std::size_t{1} << 28;
    for (std::size_t first = 0; first < n; first += chunk) {
      const std::size_t count = std::min(chunk, n - first);
      std::vector<element> expected = a.to_host(first, count);
      const std::vector<element> other = b.to_host(first, count);
      std::transform(expected.begin(), expected.end(), other.begin(), expected.begin(),
                     std::plus<element>{});
      CAPTURE(first);
      REQUIRE(lab::first_difference<element>(c.to_host(first, count), expected) == std::nullopt);
    }
  }
}
