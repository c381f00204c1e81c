// SPDX-License-Identifier: MIT
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER  // A failed check prints what is wrong.
#include "02_shared_memory_dot_product/dot_product.cuh"

#include <algorithm>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "02_shared_memory_dot_product/fast_dot_product.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/large_data.cuh"
#include "lab/reference.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using course::block_reduce;
using course::block_reduce_shuffle;
using course::dot_variant;

constexpr dot_variant all_variants[] = {dot_variant::static_tree, dot_variant::dynamic_tree,
                                        dot_variant::shuffle, dot_variant::sixteen_bytes};

enum class method { tree, shuffle };

// Each block reduces its blockDim.x values; thread 0's result goes to results[blockIdx.x].
template <method how, class T, class Operation>
__global__ void reduce_blocks(const T* values, T* results, Operation operation) {
  __shared__ T shared[course::largest_block];
  const T value = values[blockIdx.x * blockDim.x + threadIdx.x];
  const T result = how == method::tree ? block_reduce(value, operation, shared)
                                       : block_reduce_shuffle(value, operation, shared);
  if (threadIdx.x == 0) results[blockIdx.x] = result;
}

// One value a block of `threads` from `values`, whose size is a multiple of that. Launched twice,
// onto poison both times.
template <method how, class T, class Operation>
std::vector<T> reduced(const std::vector<T>& values, unsigned threads, Operation operation) {
  const auto blocks = static_cast<unsigned>(values.size() / threads);
  const lab::device_buffer<T> input(values);
  testing::poisoned_output<T> results(blocks);
  std::vector<T> first_run;
  for (int run = 0; run < 2; ++run) {
    results.poison();
    reduce_blocks<how><<<blocks, threads>>>(input.data(), results.data(), operation);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(results.overrun() == std::nullopt);
    if (run == 0) first_run = results.to_host();
  }
  REQUIRE(results.to_host() == first_run);
  return first_run;
}

template <method how>
void check_sums_of_every_block_size(std::uint64_t seed) {
  for (const unsigned threads : testing::every_block_size()) {
    CAPTURE(threads);
    // So large that no value can make up for another that is missing or comes twice.
    const auto values =
        lab::small_integers<std::int64_t>(2 * threads, std::int64_t{1} << 50, seed + threads);
    const std::vector<std::int64_t> expected = {
        std::accumulate(values.begin(), values.begin() + threads, std::int64_t{0}),
        std::accumulate(values.begin() + threads, values.end(), std::int64_t{0})};
    REQUIRE(reduced<how>(values, threads, course::plus{}) == expected);
  }
}

template <method how>
void check_extrema_of_every_block_size() {
  for (const unsigned threads : testing::every_block_size()) {
    CAPTURE(threads);
    // The extremum sits at the first, the middle and the last thread: where it is overlooked, a
    // block's result is 0.
    std::vector<int> values(3 * threads, 0);
    values[0] = 7;
    values[threads + threads / 2] = 8;
    values[3 * threads - 1] = 9;
    REQUIRE(reduced<how>(values, threads, course::maximum{}) == std::vector<int>{7, 8, 9});
    for (int& value : values) value = -value;
    REQUIRE(reduced<how>(values, threads, course::minimum{}) == std::vector<int>{-7, -8, -9});
  }
}

// Each block's sum goes to the element of the block. Thread 0 is the one whose index is 0 three
// times.
template <method how>
__global__ void sum_in_any_shape(const int* values, int* sums) {
  __shared__ int shared[course::largest_block];
  const unsigned rank = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int sum = how == method::tree ? block_reduce(values[rank], course::plus{}, shared)
                                      : block_reduce_shuffle(values[rank], course::plus{}, shared);
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) sums[blockIdx.x] = sum;
}

template <method how>
void check_sums_of_every_shape() {
  for (const dim3 threads : {dim3(8, 8), dim3(3, 11), dim3(1, 33), dim3(1, 1, 64), dim3(5, 7, 3),
                             dim3(32, 32), dim3(16, 8, 8)}) {
    CAPTURE(threads.x, threads.y, threads.z);
    std::vector<int> values(threads.x * threads.y * threads.z);
    std::iota(values.begin(), values.end(), 1);
    const lab::device_buffer<int> input(values);
    testing::poisoned_output<int> sums(2);
    sum_in_any_shape<how><<<2, threads>>>(input.data(), sums.data());
    CUDA_CHECK(cudaGetLastError());
    const int sum = std::accumulate(values.begin(), values.end(), 0);
    REQUIRE(sums.to_host() == std::vector<int>{sum, sum});
  }
}

// Three reductions that share their memory, with nothing in between.
template <method how>
__global__ void reduce_three_times(const int* values, int* results) {
  __shared__ int shared[course::largest_block];
  for (int round = 0; round < 3; ++round) {
    const int value = (round + 1) * values[threadIdx.x];
    const int result = how == method::tree ? block_reduce(value, course::plus{}, shared)
                                           : block_reduce_shuffle(value, course::plus{}, shared);
    if (threadIdx.x == 0) results[round] = result;
  }
}

// After each reduction every thread at once overwrites the element of another one, thread 0's too,
// and all read what they find.
template <method how>
__global__ void reduce_and_write_again(const int* values, int* results, int* found) {
  __shared__ int shared[course::largest_block];
  const unsigned thread = threadIdx.x;
  const unsigned other = blockDim.x - 1 - thread;
  for (int round = 0; round < 2; ++round) {
    const int value = (round + 1) * values[thread];
    const int result = how == method::tree ? block_reduce(value, course::plus{}, shared)
                                           : block_reduce_shuffle(value, course::plus{}, shared);
    shared[other] = -value;
    __syncthreads();
    found[round * blockDim.x + other] = shared[thread];
    if (thread == 0) results[round] = result;
    __syncthreads();
  }
}

template <method how>
void check_memory_written_again() {
  for (const unsigned threads : {1U, 2U, 33U, 256U}) {
    CAPTURE(threads);
    std::vector<int> values(threads);
    std::iota(values.begin(), values.end(), 1);
    const int sum = std::accumulate(values.begin(), values.end(), 0);
    std::vector<int> negated(2 * threads);
    for (unsigned i = 0; i < threads; ++i) {
      negated[i] = -values[i];
      negated[threads + i] = -2 * values[i];
    }
    const lab::device_buffer<int> input(values);
    testing::poisoned_output<int> results(2);
    testing::poisoned_output<int> found(2 * threads);
    reduce_and_write_again<how><<<1, threads>>>(input.data(), results.data(), found.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(results.to_host() == std::vector<int>{sum, 2 * sum});
    REQUIRE(found.to_host() == negated);
  }
}

// A value with the place it came from: 12 bytes, no arithmetic type, no built-in shuffle.
struct placed_value {
  float value;
  int place;
  int square;

  friend bool operator==(const placed_value&, const placed_value&) = default;
};

struct larger_value {
  __host__ __device__ placed_value operator()(placed_value x, placed_value y) const {
    return x.value < y.value ? y : x;
  }
};

// Three bytes: not a whole number of the words that a shuffle moves.
struct three_bytes {
  std::uint8_t byte[3];

  friend bool operator==(const three_bytes&, const three_bytes&) = default;
};

struct bitwise_or {
  __host__ __device__ three_bytes operator()(three_bytes x, three_bytes y) const {
    for (int i = 0; i < 3; ++i) x.byte[i] |= y.byte[i];
    return x;
  }
};

// The block whose share includes element i. Of aligned vectors; the last elements, which fill no
// packet, are not asked for.
template <class T>
std::size_t owner(dot_variant variant, std::size_t i, unsigned blocks, unsigned threads) {
  const std::size_t share = variant == dot_variant::sixteen_bytes
                                ? threads * course::dot_packets_in_flight * course::packet<T>::size
                                : threads;
  return i / share % blocks;
}

// The partial sums of two launches, each onto poison; both must be the same and stay in bounds.
template <class T>
std::vector<T> partial_sums(dot_variant variant, const T* a, const T* b, std::size_t n,
                            unsigned blocks, unsigned threads) {
  testing::poisoned_output<T> partials(blocks);
  std::vector<T> first_run;
  for (int run = 0; run < 2; ++run) {
    partials.poison();
    course::launch_dot(variant, a, b, n, partials.data(), blocks, threads);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(partials.overrun() == std::nullopt);
    if (run == 0) first_run = partials.to_host();
  }
  REQUIRE(partials.to_host() == first_run);
  return first_run;
}

// The result of dot(partials), twice, onto poisoned partial sums of `blocks` blocks.
template <class T, class Dot>
T result_of_two(unsigned blocks, Dot dot) {
  lab::device_buffer<T> partials(blocks);
  T results[2];
  for (T& result : results) {
    partials.fill_bytes(0xa5);
    result = dot(partials);
  }
  REQUIRE(results[0] == results[1]);
  return results[0];
}

// dot_product() of two host vectors.
template <class T>
T dot_on_device(dot_variant variant, const std::vector<T>& a, const std::vector<T>& b,
                unsigned blocks, unsigned threads, std::size_t a_offset = 0,
                std::size_t b_offset = 0) {
  const testing::misaligned_input<T> device_a(a, a_offset);
  const testing::misaligned_input<T> device_b(b, b_offset);
  return result_of_two<T>(blocks, [&](lab::device_buffer<T>& partials) {
    return course::dot_product(variant, device_a.data(), device_b.data(), a.size(), threads,
                               partials);
  });
}

// The same by the lesson's kernel.
std::int64_t lesson_dot(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                        unsigned blocks, unsigned threads) {
  const lab::device_buffer<std::int64_t> device_a(a);
  const lab::device_buffer<std::int64_t> device_b(b);
  return result_of_two<std::int64_t>(blocks, [&](lab::device_buffer<std::int64_t>& partials) {
    return course::dot_finished_by_host(device_a.data(), device_b.data(), a.size(), threads,
                                        partials);
  });
}

// What the vectors of the test of rounding hold.
enum class data { spread, cancelling, positive };

// The exact dot product of whole numbers, as T.
template <class T>
T exact_result(const std::vector<T>& a, const std::vector<T>& b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(lab::exact_dot<T>(a, b));
  } else {
    return static_cast<T>(lab::compensated_dot<T>(a, b).value);
  }
}

}  // namespace

CATCH_REGISTER_ENUM(course::dot_variant, course::dot_variant::static_tree,
                    course::dot_variant::dynamic_tree, course::dot_variant::shuffle,
                    course::dot_variant::sixteen_bytes)
CATCH_REGISTER_ENUM(data, data::spread, data::cancelling, data::positive)

TEST_CASE("the tree sums blocks of every size from 1 to 1024") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  check_sums_of_every_block_size<method::tree>(seed);
}

TEST_CASE("the shuffles sum blocks of every size from 1 to 1024") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  check_sums_of_every_block_size<method::shuffle>(seed);
}

TEST_CASE("the tree finds extrema in blocks of every size from 1 to 1024") {
  check_extrema_of_every_block_size<method::tree>();
}

TEST_CASE("the shuffles find extrema in blocks of every size from 1 to 1024") {
  check_extrema_of_every_block_size<method::shuffle>();
}

TEST_CASE("the tree sums blocks of two and three dimensions") {
  check_sums_of_every_shape<method::tree>();
}

TEST_CASE("the shuffles sum blocks of two and three dimensions") {
  check_sums_of_every_shape<method::shuffle>();
}

TEST_CASE("shared memory may be used again at once") {
  for (const unsigned threads : {1U, 2U, 31U, 32U, 33U, 100U, 1000U, 1024U}) {
    CAPTURE(threads);
    std::vector<int> values(threads);
    std::iota(values.begin(), values.end(), 1);
    const int sum = std::accumulate(values.begin(), values.end(), 0);
    const lab::device_buffer<int> input(values);
    testing::poisoned_output<int> results(3);
    reduce_three_times<method::tree><<<1, threads>>>(input.data(), results.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(results.to_host() == std::vector<int>{sum, 2 * sum, 3 * sum});
    results.poison();
    reduce_three_times<method::shuffle><<<1, threads>>>(input.data(), results.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(results.to_host() == std::vector<int>{sum, 2 * sum, 3 * sum});
    REQUIRE(results.overrun() == std::nullopt);
  }
}

TEST_CASE("shared memory may be written by any thread after the tree") {
  check_memory_written_again<method::tree>();
}

TEST_CASE("shared memory may be written by any thread after the shuffles") {
  check_memory_written_again<method::shuffle>();
}

TEST_CASE("reductions take any trivially copyable type") {
  for (const unsigned threads : {1U, 5U, 32U, 40U, 64U, 777U, 1024U}) {
    CAPTURE(threads);
    std::vector<placed_value> placed(threads);
    for (unsigned i = 0; i < threads; ++i) {
      // A permutation: 389 is prime, and no block size here is a multiple of it.
      placed[i] = {static_cast<float>(i * 389 % threads), static_cast<int>(i),
                   static_cast<int>(i * i)};
    }
    const placed_value largest =
        *std::max_element(placed.begin(), placed.end(),
                          [](const auto& x, const auto& y) { return x.value < y.value; });
    REQUIRE(reduced<method::tree>(placed, threads, larger_value{}) == std::vector{largest});
    REQUIRE(reduced<method::shuffle>(placed, threads, larger_value{}) == std::vector{largest});

    std::vector<three_bytes> bytes(threads);
    three_bytes expected{};
    for (unsigned i = 0; i < threads; ++i) {
      bytes[i].byte[i % 3] = static_cast<std::uint8_t>(1U << (i % 8));
      expected = bitwise_or{}(expected, bytes[i]);
    }
    REQUIRE(reduced<method::tree>(bytes, threads, bitwise_or{}) == std::vector{expected});
    REQUIRE(reduced<method::shuffle>(bytes, threads, bitwise_or{}) == std::vector{expected});
  }
}

TEST_CASE("the text's case is 25,725,848,529,920") {
  constexpr std::size_t n = 33 * 1024;
  std::vector<std::int64_t> a(n);
  std::vector<std::int64_t> b(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = static_cast<std::int64_t>(i + 1);
    b[i] = static_cast<std::int64_t>(2 * (i + 1));
  }
  REQUIRE(lesson_dot(a, b, 32, 256) == 25'725'848'529'920);
  for (const dot_variant variant : all_variants) {
    CAPTURE(variant);
    REQUIRE(dot_on_device(variant, a, b, 32, 256) == 25'725'848'529'920);
  }
  // What the text prints next to its result leaves out the last product.
  REQUIRE(lab::exact_dot<std::int64_t>(a, b) - 2 * std::int64_t{n} * std::int64_t{n} ==
          25'723'564'731'392);
}

TEST_CASE("the lesson's kernel is right for every block size from 1 to 1024") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const auto a = lab::small_integers<std::int64_t>(2003, 1 << 25, seed);
  const auto b = lab::small_integers<std::int64_t>(2003, 1 << 25, ~seed);
  const std::int64_t expected = lab::exact_dot<std::int64_t>(a, b);
  for (const unsigned threads : testing::every_block_size()) {
    CAPTURE(threads);
    REQUIRE(lesson_dot(a, b, 2, threads) == expected);
  }
}

TEST_CASE("the lesson's kernel is right for awkward counts and grids") {
  const std::uint64_t seed = Catch::getSeed();
  for (const std::size_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 4097, 50'003}) {
    const auto a = lab::small_integers<std::int64_t>(n, 1 << 20, seed);
    const auto b = lab::small_integers<std::int64_t>(n, 1 << 20, ~seed);
    const std::int64_t expected = lab::exact_dot<std::int64_t>(a, b);
    for (const unsigned blocks : {1U, 3U, 70U}) {
      CAPTURE(seed, n, blocks);
      REQUIRE(lesson_dot(a, b, blocks, 96) == expected);
    }
  }
}

TEST_CASE("every variant is right for every block size from 1 to 1024") {
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const auto a = lab::small_integers<std::int64_t>(2003, 1 << 25, seed);
  const auto b = lab::small_integers<std::int64_t>(2003, 1 << 25, ~seed);
  const std::int64_t expected = lab::exact_dot<std::int64_t>(a, b);
  for (const unsigned threads : testing::every_block_size()) {
    for (const dot_variant variant : all_variants) {
      CAPTURE(threads, variant);
      REQUIRE(dot_on_device(variant, a, b, 2, threads) == expected);
    }
  }
}

TEMPLATE_TEST_CASE("every variant is exact on whole numbers of awkward counts", "", std::int64_t,
                   float, double) {
  const std::uint64_t seed = GENERATE(std::uint64_t{1}, std::uint64_t{Catch::getSeed()});
  const std::size_t n = GENERATE(0, 1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097,
                                 50'003, (1 << 16) + 7);
  CAPTURE(seed, n);
  const std::int64_t magnitude = std::is_same_v<TestType, float>
                                     ? lab::exact_dot_magnitude(n)
                                     : std::int64_t{1} << (std::is_integral_v<TestType> ? 20 : 16);
  const auto a = lab::small_integers<TestType>(n, magnitude, seed);
  const auto b = lab::small_integers<TestType>(n, magnitude, ~seed);
  const TestType expected = exact_result(a, b);
  for (const dot_variant variant : all_variants) {
    for (const unsigned threads : testing::all_or_few({96, 256}, {96})) {
      for (const unsigned blocks : testing::all_or_few({1, 3, 70}, {3})) {
        CAPTURE(variant, threads, blocks);
        REQUIRE(dot_on_device(variant, a, b, blocks, threads) == expected);
      }
    }
  }
}

TEST_CASE("sixteen-byte loads take vectors of any alignment") {
  const std::uint64_t seed = Catch::getSeed();
  const std::size_t n = GENERATE(1, 2, 3, 4, 7, 8, 1003);
  CAPTURE(seed, n);
  const auto a = lab::small_integers<float>(n, lab::exact_dot_magnitude(n), seed);
  const auto b = lab::small_integers<float>(n, lab::exact_dot_magnitude(n), ~seed);
  const float expected = exact_result(a, b);
  for (std::size_t a_offset = 0; a_offset < 4; ++a_offset) {
    for (std::size_t b_offset = 0; b_offset < 4; ++b_offset) {
      for (const unsigned threads : {1U, 33U}) {
        CAPTURE(a_offset, b_offset, threads);
        REQUIRE(dot_on_device(dot_variant::sixteen_bytes, a, b, 2, threads, a_offset, b_offset) ==
                expected);
      }
    }
  }
}

TEST_CASE("each block of the lesson's kernel leaves its own share") {
  constexpr unsigned blocks = 11;
  constexpr unsigned threads = 160;
  // Element i belongs to block i / threads % blocks, and weighs 2^block.
  std::vector<std::int64_t> a(20 * blocks * threads + 1);
  std::vector<std::int64_t> expected(blocks, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t block = i / threads % blocks;
    a[i] = std::int64_t{1} << block;
    expected[block] += a[i];
  }
  const lab::device_buffer<std::int64_t> device_a(a);
  const lab::device_buffer<std::int64_t> ones(std::vector<std::int64_t>(a.size(), 1));
  testing::poisoned_output<std::int64_t> partials(blocks);
  for (int run = 0; run < 2; ++run) {
    partials.poison();
    course::dot<<<blocks, threads, threads * sizeof(std::int64_t)>>>(device_a.data(), ones.data(),
                                                                     a.size(), partials.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(partials.to_host() == expected);
    REQUIRE(partials.overrun() == std::nullopt);
  }
}

TEMPLATE_TEST_CASE("each block leaves its own share", "", std::int64_t, float, double) {
  constexpr std::size_t n = 100'000;
  constexpr unsigned blocks = 11;
  constexpr unsigned threads = 160;
  for (const dot_variant variant : all_variants) {
    CAPTURE(variant);
    // One element in 97 counts, with a weight that only its block has: a sum that is off by w has
    // lost, or taken twice, elements of the block of weight w.
    std::vector<TestType> a(n, 0);
    const std::vector<TestType> b(n, 1);
    std::vector<TestType> expected(blocks, 0);
    for (std::size_t i = 0; i < n; i += 97) {
      const std::size_t block = owner<TestType>(variant, i, blocks, threads);
      a[i] = static_cast<TestType>(block + 1);
      expected[block] += a[i];
    }
    const lab::device_buffer<TestType> device_a(a);
    const lab::device_buffer<TestType> device_b(b);
    REQUIRE(partial_sums(variant, device_a.data(), device_b.data(), n, blocks, threads) ==
            expected);
  }
}

TEMPLATE_TEST_CASE("sums with rounding stay within the proven bound", "", float, double) {
  const std::uint64_t seed =
      GENERATE(std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{Catch::getSeed()});
  const auto kind = GENERATE(data::spread, data::cancelling, data::positive);
  CAPTURE(seed, kind);
  const std::size_t n = testing::brief_tests() ? 50'001 : 200'001;
  const unsigned blocks = testing::brief_tests() ? 6 : 24;
  constexpr unsigned threads = 192;
  auto [a, b] = lab::cancelling_vectors<TestType>(n, seed);
  if (kind != data::cancelling) {
    a = lab::spread_numbers<TestType>(n, seed);
    b = lab::spread_numbers<TestType>(n, ~seed);
  }
  if (kind == data::positive) {
    for (TestType& value : a) value = std::fabs(value);
    for (TestType& value : b) value = std::fabs(value);
  }
  const lab::sum_reference reference = lab::compensated_dot<TestType>(a, b);
  const double bound = lab::sum_error_bound<TestType>(
      course::dot_longest_chain<TestType>(n, blocks, threads), reference);
  CAPTURE(reference.value, reference.absolute, bound);
  const lab::device_buffer<TestType> device_a(a);
  const lab::device_buffer<TestType> device_b(b);
  for (const dot_variant variant : all_variants) {
    CAPTURE(variant);
    const double got = dot_on_device(variant, a, b, blocks, threads);
    REQUIRE(std::fabs(got - reference.value) <= bound);
    if (kind != data::positive) continue;
    // All shares are about equal here, and the bound is tight enough to notice the loss of any one.
    for (const TestType share :
         partial_sums(variant, device_a.data(), device_b.data(), n, blocks, threads)) {
      CHECK(std::fabs(got - share - reference.value) > bound);
    }
  }
}

TEST_CASE("an empty dot product is 0 and launches nothing") {
  // A grid of 0 blocks would be refused, so what returns has not launched.
  lab::device_buffer<float> no_partials(0);
  lab::device_buffer<std::int64_t> none(0);
  REQUIRE(course::dot_finished_by_host(nullptr, nullptr, 0, 256, none) == 0);
  for (const dot_variant variant : all_variants) {
    CAPTURE(variant);
    REQUIRE(course::dot_blocks<float>(variant, 0, 256) == 0);
    REQUIRE(course::dot_product<float>(variant, nullptr, nullptr, 0, 256, no_partials) == 0);
  }
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("the default grid fills the device, and is no larger than the data") {
  for (const dot_variant variant : all_variants) {
    CAPTURE(variant);
    CHECK(course::dot_blocks<float>(variant, 1, 256) == 1);
    CHECK(course::dot_blocks<float>(variant, 257, 256) == 2);
    const unsigned blocks = course::dot_blocks<float>(variant, std::size_t{1} << 40, 256);
    CHECK(blocks >= static_cast<unsigned>(lab::describe_device().multiprocessors));
    CHECK(blocks % lab::describe_device().multiprocessors == 0);
  }
}

TEST_CASE("too many threads for a block are refused") {
  lab::device_buffer<std::int64_t> y(1);
  CHECK_THROWS_MATCHES(
      course::dot_finished_by_host(y.data(), y.data(), 1, 2048, y), lab::cuda_error,
      Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("cudaErrorInvalidValue")));
  lab::device_buffer<float> x(1);
  for (const dot_variant variant : all_variants) {
    CAPTURE(variant);
    CHECK_THROWS_MATCHES(course::launch_dot(variant, x.data(), x.data(), 1, x.data(), 1, 2048),
                         lab::cuda_error,
                         Catch::Matchers::MessageMatches(
                             Catch::Matchers::ContainsSubstring("cudaErrorInvalidValue")));
  }
}

// Of std::int64_t only by the lesson's kernel, which adds up nothing else.
TEMPLATE_TEST_CASE("every variant adds up more than 2^32 products", "", std::int32_t,
                   std::int64_t) {
  using element = TestType;
  constexpr std::size_t n = lab::large_count;
  if (const auto reason = lab::why_no_large_data(2 * n * sizeof(element))) SKIP(*reason);
  const std::uint64_t seed = Catch::getSeed();
  CAPTURE(seed);
  const lab::device_buffer<element> a = lab::large_vector<element>(0, 60, seed);
  const lab::device_buffer<element> b = lab::large_vector<element>(0, 60, ~seed);
  // The last two windows overlap, so the reference reads what is there in the end.
  constexpr std::size_t last = lab::large_windows[2];
  const auto dot_of = [&](std::size_t first, std::size_t count) {
    return lab::exact_dot<element>(a.to_host(first, count), b.to_host(first, count));
  };
  const std::int64_t expected = dot_of(lab::large_windows[0], lab::large_window) +
                                dot_of(lab::large_windows[1], lab::large_window) +
                                dot_of(last, n - last);
  lab::device_buffer<element> partials(132 * 8);
  if constexpr (std::is_same_v<element, std::int64_t>) {
    REQUIRE(course::dot_finished_by_host(a.data(), b.data(), n, 256, partials) == expected);
  } else {
    for (const dot_variant variant : all_variants) {
      CAPTURE(variant);
      REQUIRE(course::dot_product(variant, a.data(), b.data(), n, 256, partials) == expected);
    }
  }
}
