// SPDX-License-Identifier: MIT
#include "03_two_kernel_reduction/two_kernel_reduction.cuh"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "03_two_kernel_reduction/reduction_checks.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/poisoned_output.cuh"

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
  lab::poisoned_output<std::int64_t> partials(blocks);
  lab::poisoned_output<std::int64_t> result(1);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int launch = 0; launch < 20; ++launch) {
    course::two_kernel_reduction(input.data(), n, course::plus{}, partials.data(), result.data(),
                                 blocks, 128, stream);
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
  const auto refuses = [&](unsigned blocks, unsigned threads) {
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
