// SPDX-License-Identifier: MIT
#include "03_two_kernel_reduction/two_kernel_reduction.cuh"

#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "03_two_kernel_reduction/reduction_checks.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/large_data.cuh"
#include "lab/reference.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

namespace checks = course::checks;

struct two_kernels {
  template <class T, class Operation>
  void reduce(const T* values, std::size_t n, Operation operation, T* partials, T* result,
              unsigned blocks, unsigned threads) {
    course::two_kernel_reduction(values, n, operation, partials, result, blocks, threads);
  }
  template <class T>
  void dot(const T* a, const T* b, std::size_t n, T* partials, T* result, unsigned blocks,
           unsigned threads) {
    course::two_kernel_dot(a, b, n, partials, result, blocks, threads);
  }
};

// sum_by_two_kernels(), three times, onto poisoned partial sums and a poisoned result.
std::int64_t lesson_sum(const std::vector<std::int64_t>& values, unsigned blocks,
                        unsigned threads) {
  const lab::device_buffer<std::int64_t> input(values);
  return checks::result_of_three<std::int64_t>(
      blocks, [&](std::int64_t* partials, std::int64_t* result) {
        course::sum_by_two_kernels(input.data(), values.size(), partials, result, blocks, threads);
      });
}

// The identity changes no value, the most extreme ones included.
template <class T, class Operation>
bool is_identity(Operation operation) {
  using limits = std::numeric_limits<T>;
  const T identity = Operation::template identity<T>();
  for (const T value : {T{0}, T{1}, T{-1}, limits::max(), limits::lowest(),
                        limits::has_infinity ? limits::infinity() : T{2},
                        limits::has_infinity ? -limits::infinity() : T{3}}) {
    if (operation(identity, value) != value || operation(value, identity) != value) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the lesson's kernels are exact on awkward counts, blocks and grids") {
  const std::uint64_t seed = Catch::getSeed();
  for (const std::size_t n : {0, 1, 31, 32, 33, 255, 256, 257, 4097, 50'003}) {
    // So large that no value can make up for another that is missing or comes twice.
    const auto values = lab::small_integers<std::int64_t>(n, std::int64_t{1} << 46, seed);
    for (const unsigned threads : {1U, 33U, 256U, 1024U}) {
      for (const unsigned blocks : testing::all_or_few({1, 3, 300}, {1, 3})) {
        CAPTURE(seed, n, threads, blocks);
        REQUIRE(lesson_sum(values, blocks, threads) == lab::exact_sum<std::int64_t>(values));
      }
    }
  }
}

TEST_CASE("the lesson's kernels lose no block's share") {
  for (const unsigned blocks : {1U, 2U, 33U, 60U}) {
    CAPTURE(blocks);
    constexpr unsigned threads = 64;
    // Block k has the k-th run of `threads` values, and 2^k in it: a wrong sum names the block.
    std::vector<std::int64_t> values(blocks * threads, 0);
    for (unsigned block = 0; block < blocks; ++block) {
      values[block * threads + block] = std::int64_t{1} << block;
    }
    REQUIRE(lesson_sum(values, blocks, threads) == (std::int64_t{1} << blocks) - 1);
  }
}

TEST_CASE("the lesson's kernels add up more than 2^32 values") {
  constexpr std::size_t n = lab::large_count;
  if (const auto reason = lab::why_no_large_data(n * sizeof(std::int64_t))) SKIP(*reason);
  const auto values = lab::large_vector<std::int64_t>(0, 60, Catch::getSeed());
  CAPTURE(Catch::getSeed());
  std::int64_t expected = 0;
  // The last two windows overlap: from the third one on, the rest at once.
  for (const std::size_t first :
       {lab::large_windows[0], lab::large_windows[1], lab::large_windows[2]}) {
    const std::size_t count = first == lab::large_windows[2] ? n - first : lab::large_window;
    expected += lab::exact_sum<std::int64_t>(values.to_host(first, count));
  }
  lab::device_buffer<std::int64_t> partials(1056);
  lab::device_buffer<std::int64_t> result(1);
  course::sum_by_two_kernels(values.data(), n, partials.data(), result.data(), 1056, 256);
  REQUIRE(result.to_host().front() == expected);
}

TEMPLATE_TEST_CASE("identities change nothing", "", std::int32_t, std::int64_t, float, double) {
  CHECK(is_identity<TestType>(course::plus{}));
  CHECK(is_identity<TestType>(course::minimum{}));
  CHECK(is_identity<TestType>(course::maximum{}));
}

TEMPLATE_TEST_CASE("two kernels are exact on whole numbers of awkward counts", "", std::int32_t,
                   std::int64_t, float, double) {
  two_kernels reduction;
  checks::awkward_counts_are_exact<TestType>(reduction);
}

TEST_CASE("two kernels are exact with blocks of every size") {
  two_kernels reduction;
  checks::every_block_size_is_exact(reduction);
}

TEST_CASE("two kernels are exact with more blocks than can be resident") {
  two_kernels reduction;
  checks::many_blocks_are_exact(reduction);
}

TEST_CASE("two kernels lose no block's share") {
  two_kernels reduction;
  checks::no_share_is_lost(reduction);
}

TEST_CASE("two kernels take inputs of any alignment") {
  two_kernels reduction;
  checks::any_alignment_is_exact(reduction);
}

TEST_CASE("two kernels reduce any trivially copyable type") {
  two_kernels reduction;
  checks::any_trivially_copyable_type_is_exact(reduction);
}

TEMPLATE_TEST_CASE("two kernels round within the proven bound", "", float, double) {
  two_kernels reduction;
  checks::rounding_stays_within_the_bound<TestType>(reduction);
}

TEMPLATE_TEST_CASE("the bound on two kernels' rounding notices a lost share", "", float, double) {
  two_kernels reduction;
  checks::the_bound_notices_a_lost_share<TestType>(reduction);
}

TEST_CASE("two kernels add up more than 2^31 terms") {
  two_kernels reduction;
  checks::more_than_two_to_the_31_terms_are_exact(reduction);
}

TEST_CASE("two kernels add up more than 2^32 terms") {
  two_kernels reduction;
  checks::more_than_two_to_the_32_terms_are_exact(reduction);
}

TEST_CASE("the second kernel's input is the first one's output, in any stream") {
  // A stream that does not wait for the default one, so that nothing but itself orders the
  // launches.
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  constexpr std::size_t n = 100'000;
  constexpr unsigned blocks = 97;
  const std::vector<std::int64_t> values(n, 3);
  const lab::device_buffer<std::int64_t> input(values);
  testing::poisoned_output<std::int64_t> partials(blocks);
  testing::poisoned_output<std::int64_t> result(1);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int launch = 0; launch < (testing::brief_tests() ? 4 : 20); ++launch) {
    course::two_kernel_reduction(input.data(), n, course::plus{}, partials.data(), result.data(),
                                 blocks, 128, stream);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(result.to_host() == std::vector<std::int64_t>{3 * n});
  result.poison();
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int launch = 0; launch < 20; ++launch) {
    course::sum_by_two_kernels(input.data(), n, partials.data(), result.data(), blocks, 128,
                               stream);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CHECK(result.to_host() == std::vector<std::int64_t>{3 * n});
  CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_CASE("the grid of a reduction fits its terms and the device") {
  using terms = course::elements<float>;
  const auto kernel = course::reduce_elements<float, course::plus>;
  CHECK(course::reduction_blocks<terms>(kernel, 0, 256) == 1);
  CHECK(course::reduction_blocks<terms>(kernel, 1, 256) == 1);
  // Four loads of four floats each, for each of 256 threads.
  CHECK(course::reduction_blocks<terms>(kernel, 4096, 256) == 1);
  CHECK(course::reduction_blocks<terms>(kernel, 4097, 256) == 2);
  const unsigned blocks = course::reduction_blocks<terms>(kernel, std::size_t{1} << 40, 256);
  CHECK(blocks >= static_cast<unsigned>(lab::describe_device().multiprocessors));
  CHECK(blocks % lab::describe_device().multiprocessors == 0);
}

TEST_CASE("a reduction in a grid or a block that CUDA does not have is refused") {
  lab::device_buffer<float> x(1);
  lab::device_buffer<std::int64_t> y(1);
  const auto refuses = [&](unsigned blocks, unsigned threads) {
    CHECK_THROWS_AS(course::sum_by_two_kernels(y.data(), 1, y.data(), y.data(), blocks, threads),
                    lab::cuda_error);
    CHECK_THROWS_MATCHES(course::two_kernel_reduction(x.data(), 1, course::plus{}, x.data(),
                                                      x.data(), blocks, threads),
                         lab::cuda_error,
                         Catch::Matchers::MessageMatches(
                             Catch::Matchers::ContainsSubstring("cudaErrorInvalidValue")));
  };
  refuses(0, 256);
  refuses(1U << 31, 256);
  refuses(1, 0);
  refuses(1, 1025);
  refuses(1, 2048);
}
