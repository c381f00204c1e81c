// SPDX-License-Identifier: MIT
#include "04_last_block_guard/last_block_guard.cuh"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "03_two_kernel_reduction/reduction_checks.cuh"
#include "04_last_block_guard/fast_last_block_guard.cuh"
#include "04_last_block_guard/guards.cuh"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/reference.hpp"
#include "lab/trace.cuh"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

namespace checks = course::checks;
using course::acquire_release_guard;
using course::arrival_counter;
using course::repaired_guard;
using course::shared_flag_guard;
using course::syncthreads_or_guard;

template <class Guard>
struct last_block_of {
  template <class T, class Operation>
  void reduce(const T* values, std::size_t n, Operation operation, T* partials, T* result,
              unsigned blocks, unsigned threads) {
    course::last_block_reduction<Guard>(values, n, operation, partials, counter, result, blocks,
                                        threads);
    REQUIRE(counter.value() == (Guard::resets_counter ? 0 : blocks));
  }
  template <class T>
  void dot(const T* a, const T* b, std::size_t n, T* partials, T* result, unsigned blocks,
           unsigned threads) {
    course::last_block_dot<Guard>(a, b, n, partials, counter, result, blocks, threads);
    REQUIRE(counter.value() == (Guard::resets_counter ? 0 : blocks));
  }

  arrival_counter counter;
};

struct first_warp_of {
  template <class T, class Operation>
  void reduce(const T* values, std::size_t n, Operation operation, T* partials, T* result,
              unsigned blocks, unsigned threads) {
    course::first_warp_reduction(values, n, operation, partials, counter, result, blocks, threads);
    REQUIRE(counter.value() == 0);
  }

  arrival_counter counter;
};

// Sets the counter to 0 where the guard does not: what a launch with a classic guard needs.
template <class Guard>
void prepare(arrival_counter& counter) {
  if (!Guard::resets_counter) counter.reset();
}

// ---- the guard alone

// answers[block * threads a block + thread] becomes what the guard told that thread.
template <class Guard>
__global__ void record_answers(unsigned* counter, int* answers) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const bool last = Guard{}(counter);
  answers[course::block_rank() * threads + course::thread_block::thread_rank()] = last ? 1 : 0;
}

// The number of blocks whose threads were all told true, or -1 if the threads of a block were told
// different things.
int last_blocks(const std::vector<int>& answers, unsigned blocks) {
  const std::size_t threads = answers.size() / blocks;
  int last = 0;
  for (unsigned block = 0; block < blocks; ++block) {
    const int* const first = answers.data() + block * threads;
    const int told = std::accumulate(first, first + threads, 0);
    if (told != 0 && told != static_cast<int>(threads)) return -1;
    last += told != 0;
  }
  return last;
}

template <class Guard>
int last_blocks_of_launch(dim3 blocks, dim3 threads, arrival_counter& counter) {
  const unsigned block_count = blocks.x * blocks.y * blocks.z;
  testing::poisoned_output<int> answers(std::size_t{block_count} * threads.x * threads.y *
                                        threads.z);
  prepare<Guard>(counter);
  record_answers<Guard><<<blocks, threads>>>(counter.data(), answers.data());
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(answers.overrun() == std::nullopt);
  return last_blocks(answers.to_host(), block_count);
}

// ---- what the last block may read

// Every thread writes a word of its own, and the last block's threads read those of others: thread
// t reads the words of thread t + 1 of every block. Block k's words hold weights that no other has.
template <class Guard>
__global__ void every_thread_writes(unsigned* words, unsigned* counter, unsigned* seen,
                                    unsigned launch) {
  words[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * 1024 + threadIdx.x + launch;
  if (!Guard{}(counter)) return;
  const unsigned reads = (threadIdx.x + 1) % blockDim.x;
  for (unsigned block = 0; block < gridDim.x; ++block) {
    const unsigned i = block * blockDim.x + reads;
    seen[i] = words[i];
  }
}

template <class Guard>
void check_every_thread_writes() {
  arrival_counter counter;
  for (const unsigned blocks : testing::all_or_few({1, 2, 33, 300}, {2, 33})) {
    for (const unsigned threads : testing::all_or_few({1, 32, 100, 256, 1024}, {100, 256})) {
      CAPTURE(blocks, threads);
      testing::poisoned_output<unsigned> words(std::size_t{blocks} * threads);
      testing::poisoned_output<unsigned> seen(std::size_t{blocks} * threads);
      for (unsigned launch = 0; launch < 2; ++launch) {
        words.poison();
        seen.poison();
        prepare<Guard>(counter);
        every_thread_writes<Guard>
            <<<blocks, threads>>>(words.data(), counter.data(), seen.data(), launch);
        CUDA_CHECK(cudaGetLastError());
        std::vector<unsigned> expected;
        for (unsigned block = 0; block < blocks; ++block) {
          for (unsigned thread = 0; thread < threads; ++thread) {
            expected.push_back(block * 1024 + thread + launch);
          }
        }
        REQUIRE(seen.to_host() == expected);
        REQUIRE(words.overrun() == std::nullopt);
        REQUIRE(seen.overrun() == std::nullopt);
      }
    }
  }
}

// ---- the skeleton

// The weight of a block: exact in every T, and no other block's.
__host__ __device__ inline void set_weight(int& partial, unsigned block, unsigned launch) {
  partial = static_cast<int>(3 * block + launch);
}
__host__ __device__ inline void set_weight(double& partial, unsigned block, unsigned launch) {
  partial = 0.5 * block + launch;
}
__host__ __device__ inline void set_weight(checks::summary& partial, unsigned block,
                                           unsigned launch) {
  partial = {-std::int64_t{block} - launch, std::int64_t{block} << 33, std::int64_t{block} * 7};
}

// The last block copies all partial results to `merged`, and their number to *count. One thread
// does so, or all of them together.
template <class Guard, class T>
__global__ void merge_by_copying(T* partials, unsigned* counter, T* merged,
                                 unsigned long long* count, unsigned launch) {
  T partial;
  set_weight(partial, static_cast<unsigned>(course::block_rank()), launch);
  // Only thread 0's counts.
  if (course::thread_block::thread_rank() != 0) set_weight(partial, 1'000'000, launch);
  course::merge_in_last_block<Guard>(
      partial, partials, counter, [&](const T* all, unsigned long long blocks) {
        const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
        for (unsigned long long i = course::thread_block::thread_rank(); i < blocks; i += threads) {
          merged[i] = all[i];
        }
        if (course::thread_block::thread_rank() == 0) *count = blocks;
      });
}

template <class Guard, class T>
void check_merge(dim3 blocks, dim3 threads) {
  const unsigned block_count = blocks.x * blocks.y * blocks.z;
  CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z);
  arrival_counter counter;
  testing::poisoned_output<T> partials(block_count);
  testing::poisoned_output<T> merged(block_count);
  testing::poisoned_output<unsigned long long> count(1);
  for (unsigned launch = 0; launch < 2; ++launch) {
    partials.poison();
    merged.poison();
    count.poison();
    prepare<Guard>(counter);
    merge_by_copying<Guard>
        <<<blocks, threads>>>(partials.data(), counter.data(), merged.data(), count.data(), launch);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<T> got = merged.to_host();
    for (unsigned block = 0; block < block_count; ++block) {
      T expected;
      set_weight(expected, block, launch);
      CAPTURE(launch, block);
      REQUIRE(got[block] == expected);
    }
    REQUIRE(count.to_host().front() == block_count);
    REQUIRE(partials.overrun() == std::nullopt);
    REQUIRE(merged.overrun() == std::nullopt);
  }
}

// ---- several arrivals of each block

// Each block arrives `rounds` times, having added to `sum` each time. The last arrival of all sees
// the whole sum.
__global__ void arrive_often(unsigned* counter, unsigned rounds, unsigned* words, unsigned* seen,
                             unsigned* times_last) {
  for (unsigned round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) words[blockIdx.x * rounds + round] = blockIdx.x + round;
    if (course::last_arrival(counter, std::size_t{gridDim.x} * rounds)) {
      if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < gridDim.x * rounds; ++i) sum += words[i];
        *seen = sum;
        atomicAdd(times_last, 1);
      }
    }
  }
}

// ---- the lesson's kernel

// The sum of `values` by sum_in_one_kernel, three times over: all three must be the same.
std::int64_t sum_of(const std::vector<std::int64_t>& values, arrival_counter& counter,
                    unsigned blocks, unsigned threads) {
  const lab::device_buffer<std::int64_t> input(values);
  const std::int64_t sum = checks::result_of_three<std::int64_t>(
      blocks, [&](std::int64_t* partials, std::int64_t* result) {
        course::sum_by_last_block(input.data(), values.size(), partials, counter.data(), result,
                                  blocks, threads);
      });
  REQUIRE(counter.value() == 0);
  return sum;
}

}  // namespace

TEST_CASE("sum_in_one_kernel adds up every value, in launch after launch") {
  const std::uint64_t seed = Catch::getSeed();
  arrival_counter counter;
  for (const std::size_t n : {0, 1, 31, 32, 33, 255, 256, 257, 4097, 50'003}) {
    if (testing::brief_tests() && n > 5'000) continue;
    // So large that no value can make up for another that is missing or comes twice.
    const auto values = lab::small_integers<std::int64_t>(n, std::int64_t{1} << 46, seed);
    for (const unsigned threads : testing::all_or_few({1, 33, 96, 256, 1024}, {33, 96})) {
      for (const unsigned blocks : testing::all_or_few({1, 3, 300}, {5})) {
        CAPTURE(seed, n, threads, blocks);
        REQUIRE(sum_of(values, counter, blocks, threads) == lab::exact_sum<std::int64_t>(values));
      }
    }
  }
}

TEST_CASE("sum_in_one_kernel merges what each block has left, once") {
  constexpr unsigned threads = 64;
  arrival_counter counter;
  for (const unsigned blocks : {1U, 2U, 13U, 52U}) {
    CAPTURE(blocks);
    // Block k adds 2^k, and no other value but 0: every set of blocks has a sum of its own.
    std::vector<std::int64_t> values(std::size_t{blocks} * threads, 0);
    for (unsigned block = 0; block < blocks; ++block) {
      values[block * threads + 7 * block % threads] = std::int64_t{1} << block;
    }
    REQUIRE(sum_of(values, counter, blocks, threads) == (std::int64_t{1} << blocks) - 1);
  }
}

TEMPLATE_TEST_CASE("exactly one block is the last, and all its threads know", "",
                   acquire_release_guard, repaired_guard, shared_flag_guard, syncthreads_or_guard) {
  arrival_counter counter;
  for (const unsigned blocks : testing::all_or_few({1, 2, 31, 1000, 10'007}, {1, 31})) {
    for (const unsigned threads : testing::all_or_few({1, 31, 32, 33, 100, 1024}, {33})) {
      if (std::size_t{blocks} * threads > 2'000'000) continue;
      CAPTURE(blocks, threads);
      for (int launch = 0; launch < 3; ++launch) {
        REQUIRE(last_blocks_of_launch<TestType>(blocks, threads, counter) == 1);
        if (TestType::resets_counter) REQUIRE(counter.value() == 0);
      }
    }
  }
}

TEST_CASE("the last block is found in grids and blocks of one, two and three dimensions") {
  arrival_counter counter;
  for (const dim3 blocks : {dim3(12), dim3(1, 12), dim3(1, 1, 12), dim3(3, 4), dim3(2, 1, 6),
                            dim3(2, 3, 2), dim3(5, 7, 3)}) {
    for (const dim3 threads : {dim3(64), dim3(1, 64), dim3(1, 1, 64), dim3(8, 8), dim3(5, 3, 7)}) {
      CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z);
      REQUIRE(last_blocks_of_launch<acquire_release_guard>(blocks, threads, counter) == 1);
      REQUIRE(counter.value() == 0);
    }
  }
}

// How many blocks were the last in the second of two launches, with nothing in between.
template <class Guard>
int last_blocks_without_reset(unsigned blocks) {
  arrival_counter counter;
  testing::poisoned_output<int> answers(blocks * 64);
  for (int launch = 0; launch < 2; ++launch) {
    answers.poison();
    record_answers<Guard><<<blocks, 64>>>(counter.data(), answers.data());
    CUDA_CHECK(cudaGetLastError());
  }
  REQUIRE(counter.value() == (Guard::resets_counter ? 0 : 2 * blocks));
  return last_blocks(answers.to_host(), blocks);
}

TEST_CASE("without a reset a classic guard finds no last block in the second launch") {
  for (const unsigned blocks : {2U, 100U}) {
    CHECK(last_blocks_without_reset<shared_flag_guard>(blocks) == 0);
    CHECK(last_blocks_without_reset<syncthreads_or_guard>(blocks) == 0);
    CHECK(last_blocks_without_reset<acquire_release_guard>(blocks) == 1);
    CHECK(last_blocks_without_reset<repaired_guard>(blocks) == 1);
  }
}

TEST_CASE("with a single block the form for 2.0 hides the missing reset") {
  CHECK(last_blocks_without_reset<shared_flag_guard>(1) == 0);
  CHECK(last_blocks_without_reset<syncthreads_or_guard>(1) == 1);
}

TEMPLATE_TEST_CASE("the last block's threads read what every thread of every block wrote", "",
                   acquire_release_guard, repaired_guard, shared_flag_guard, syncthreads_or_guard) {
  check_every_thread_writes<TestType>();
}

TEMPLATE_TEST_CASE("the skeleton merges partial results of any trivially copyable type", "", int,
                   double, checks::summary) {
  for (const dim3 blocks :
       {dim3(1), dim3(2), dim3(33), dim3(testing::brief_tests() ? 100 : 1000)}) {
    for (const dim3 threads : {dim3(1), dim3(96)}) {
      check_merge<acquire_release_guard, TestType>(blocks, threads);
      check_merge<shared_flag_guard, TestType>(blocks, threads);
      check_merge<syncthreads_or_guard, TestType>(blocks, threads);
    }
  }
  for (const dim3 blocks : {dim3(4, 5), dim3(3, 4, 5), dim3(1, 1, 9)}) {
    for (const dim3 threads : {dim3(33), dim3(4, 9), dim3(3, 5, 2)}) {
      check_merge<acquire_release_guard, TestType>(blocks, threads);
    }
  }
}

TEST_CASE("a block may arrive any number of times") {
  constexpr unsigned blocks = 50;
  for (const unsigned rounds : {1U, 2U, 9U}) {
    CAPTURE(rounds);
    arrival_counter counter;
    testing::poisoned_output<unsigned> words(blocks * rounds);
    testing::poisoned_output<unsigned> seen(1);
    lab::device_buffer<unsigned> times_last(std::vector<unsigned>{0});
    for (unsigned launch = 1; launch <= 2; ++launch) {
      words.poison();
      seen.poison();
      arrive_often<<<blocks, 64>>>(counter.data(), rounds, words.data(), seen.data(),
                                   times_last.data());
      CUDA_CHECK(cudaGetLastError());
      unsigned expected = 0;
      for (unsigned i = 0; i < blocks * rounds; ++i) expected += i / rounds + i % rounds;
      REQUIRE(seen.to_host().front() == expected);
      REQUIRE(times_last.to_host().front() == launch);
      REQUIRE(counter.value() == 0);
    }
  }
}

TEST_CASE("a thousand launches in a row need one counter and no reset") {
  const unsigned launches = testing::brief_tests() ? 20 : 1000;
  constexpr unsigned blocks = 40;
  constexpr std::size_t n = 10'000;
  const std::vector<std::int64_t> ones(n, 1);
  const lab::device_buffer<std::int64_t> input(ones);
  lab::device_buffer<std::int64_t> partials(blocks);
  testing::poisoned_output<std::int64_t> results(launches);
  arrival_counter counter;
  for (unsigned launch = 0; launch < launches; ++launch) {
    course::last_block_reduction(input.data(), n - launch, course::plus{}, partials.data(), counter,
                                 results.data() + launch, 1 + launch % blocks, 64);
  }
  std::vector<std::int64_t> expected(launches);
  for (unsigned launch = 0; launch < launches; ++launch) {
    expected[launch] = static_cast<std::int64_t>(n - launch);
  }
  REQUIRE(results.to_host() == expected);
  REQUIRE(counter.value() == 0);
}

TEST_CASE("two streams at once need a counter each") {
  constexpr unsigned blocks = 60;
  constexpr std::size_t n = 50'000;
  const unsigned launches = testing::brief_tests() ? 4 : 25;
  struct job {
    explicit job(unsigned launches) : results(launches) {}
    cudaStream_t stream = nullptr;
    arrival_counter counter;
    lab::device_buffer<std::int64_t> input;
    lab::device_buffer<std::int64_t> partials{blocks};
    testing::poisoned_output<std::int64_t> results;
  };
  job jobs[2] = {job(launches), job(launches)};
  for (int i = 0; i < 2; ++i) {
    jobs[i].input = lab::device_buffer<std::int64_t>(std::vector<std::int64_t>(n, 5 + i));
    CUDA_CHECK(cudaStreamCreateWithFlags(&jobs[i].stream, cudaStreamNonBlocking));
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  for (unsigned launch = 0; launch < launches; ++launch) {
    for (job& each : jobs) {
      course::last_block_reduction(each.input.data(), n, course::plus{}, each.partials.data(),
                                   each.counter, each.results.data() + launch, blocks, 128,
                                   each.stream);
    }
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 2; ++i) {
    CHECK(jobs[i].results.to_host() ==
          std::vector<std::int64_t>(launches, static_cast<std::int64_t>(n) * (5 + i)));
    CHECK(jobs[i].results.overrun() == std::nullopt);
    CHECK(jobs[i].counter.value() == 0);
    CUDA_CHECK(cudaStreamDestroy(jobs[i].stream));
  }
}

namespace {

// As record_answers, but not before `delay_ns` have gone by: what follows in the stream has to
// wait, and what another stream does comes first.
template <class Guard>
__global__ void record_answers_late(std::uint64_t delay_ns, unsigned* counter, int* answers) {
  const std::uint64_t begin_ns = lab::device_nanoseconds();
  while (lab::device_nanoseconds() - begin_ns < delay_ns) {
  }
  answers[blockIdx.x * blockDim.x + threadIdx.x] = Guard{}(counter) ? 1 : 0;
}

}  // namespace

TEST_CASE("a counter is set to 0 in the order of its stream") {
  constexpr unsigned blocks = 20;
  constexpr unsigned threads = 64;
  constexpr unsigned launches = 3;
  const std::uint64_t delay_ns = testing::brief_tests() ? 100'000 : 1'000'000;
  // A stream that does not wait for the default one.
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  testing::poisoned_output<int> answers(launches * blocks * threads);
  CUDA_CHECK(cudaDeviceSynchronize());
  arrival_counter counter(stream);
  for (unsigned launch = 0; launch < launches; ++launch) {
    if (launch > 0) counter.reset(stream);
    record_answers_late<shared_flag_guard><<<blocks, threads, 0, stream>>>(
        delay_ns, counter.data(), answers.data() + launch * blocks * threads);
    CUDA_CHECK(cudaGetLastError());
  }
  CHECK(counter.value(stream) == blocks);
  for (unsigned launch = 0; launch < launches; ++launch) {
    CHECK(last_blocks(answers.to_host(launch * blocks * threads, blocks * threads), blocks) == 1);
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
}

// ---- whole reductions

TEMPLATE_TEST_CASE("the last block is exact on whole numbers of awkward counts", "", std::int32_t,
                   std::int64_t, float, double) {
  last_block_of<acquire_release_guard> reduction;
  checks::awkward_counts_are_exact<TestType>(reduction);
}

TEMPLATE_TEST_CASE("the classic guards are exact on whole numbers of awkward counts", "",
                   shared_flag_guard, syncthreads_or_guard) {
  last_block_of<TestType> reduction;
  checks::awkward_counts_are_exact<float>(reduction);
}

TEST_CASE("the last block is exact with blocks of every size") {
  last_block_of<acquire_release_guard> reduction;
  checks::every_block_size_is_exact(reduction);
}

TEST_CASE("the last block is exact with more blocks than can be resident") {
  last_block_of<acquire_release_guard> reduction;
  checks::many_blocks_are_exact(reduction);
}

TEMPLATE_TEST_CASE("the last block loses no block's share", "", acquire_release_guard,
                   shared_flag_guard, syncthreads_or_guard) {
  last_block_of<TestType> reduction;
  checks::no_share_is_lost(reduction);
}

TEST_CASE("the last block takes inputs of any alignment") {
  last_block_of<acquire_release_guard> reduction;
  checks::any_alignment_is_exact(reduction);
}

TEST_CASE("the last block reduces any trivially copyable type") {
  last_block_of<acquire_release_guard> reduction;
  checks::any_trivially_copyable_type_is_exact(reduction);
}

TEMPLATE_TEST_CASE("the last block rounds within the proven bound", "", float, double) {
  last_block_of<acquire_release_guard> reduction;
  checks::rounding_stays_within_the_bound<TestType>(reduction);
}

TEST_CASE("a merge by the first warp loses no block's share") {
  first_warp_of reduction;
  checks::no_share_is_lost(reduction);
}

TEST_CASE("a merge by the first warp is exact with more blocks than can be resident") {
  first_warp_of reduction;
  checks::many_blocks_are_exact(reduction);
}

TEST_CASE("a merge by the first warp takes any trivially copyable type") {
  first_warp_of reduction;
  checks::any_trivially_copyable_type_is_exact(reduction);
}

TEST_CASE("a merge by the first warp needs a whole warp") {
  lab::device_buffer<float> x(1);
  arrival_counter counter;
  CHECK_THROWS_AS(
      course::first_warp_reduction(x.data(), 1, course::plus{}, x.data(), counter, x.data(), 1, 31),
      std::invalid_argument);
}

TEST_CASE("the last block rounds as the second kernel does, bit by bit") {
  const std::size_t n = testing::brief_tests() ? 12'347 : 123'457;
  const lab::device_buffer<float> input(lab::spread_numbers<float>(n, 7));
  for (const unsigned blocks : {1U, 5U, testing::brief_tests() ? 40U : 700U}) {
    CAPTURE(blocks);
    lab::device_buffer<float> partials(blocks);
    lab::device_buffer<float> result(1);
    course::two_kernel_reduction(input.data(), n, course::plus{}, partials.data(), result.data(),
                                 blocks, 256);
    last_block_of<acquire_release_guard> reduction;
    CHECK(checks::reduced(reduction, input.data(), n, course::plus{}, blocks, 256) ==
          result.to_host().front());
  }
}

TEST_CASE("the last block adds up more than 2^31 terms") {
  last_block_of<acquire_release_guard> reduction;
  checks::more_than_two_to_the_31_terms_are_exact(reduction);
}

TEST_CASE("the last block adds up more than 2^32 terms") {
  last_block_of<acquire_release_guard> reduction;
  checks::more_than_two_to_the_32_terms_are_exact(reduction);
}

TEST_CASE("a guarded reduction in a grid or a block that CUDA does not have is refused") {
  lab::device_buffer<float> x(1);
  arrival_counter counter;
  const auto refuses = [&](unsigned blocks, unsigned threads) {
    CHECK_THROWS_MATCHES(course::last_block_reduction(x.data(), 1, course::plus{}, x.data(),
                                                      counter, x.data(), blocks, threads),
                         lab::cuda_error,
                         Catch::Matchers::MessageMatches(
                             Catch::Matchers::ContainsSubstring("cudaErrorInvalidValue")));
  };
  refuses(0, 256);
  refuses(1U << 31, 256);
  refuses(1, 0);
  refuses(1, 1025);
  refuses(1, 2048);
  CHECK(counter.value() == 0);
}
