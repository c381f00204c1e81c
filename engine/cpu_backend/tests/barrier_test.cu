// SPDX-License-Identifier: MIT
// __syncthreads() and its forms that count, for blocks of every size and shape.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <optional>
#include <vector>

#include "checked_runtime/check.cuh"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

constexpr unsigned largest_block = 1024;

__device__ unsigned thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ unsigned threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

enum class memory { shared, global };

// The value that thread `rank` of `block` starts with.
__host__ __device__ int start_value(unsigned block, unsigned rank) {
  return static_cast<int>(block * 5000 + rank);
}

// Hands every thread's value to the thread below it, `rounds` times. `values` has one element a
// thread.
template <memory where>
__global__ void rotate(int* values, int* results, int rounds) {
  __shared__ int shared[largest_block];
  const unsigned rank = thread_rank();
  const unsigned threads = threads_of_block();
  int* of_block = where == memory::shared ? shared : values + blockIdx.x * threads;
  of_block[rank] = start_value(blockIdx.x, rank);
  for (int round = 0; round < rounds; ++round) {
    __syncthreads();
    const int next = of_block[(rank + 1) % threads];
    __syncthreads();
    of_block[rank] = next;
  }
  results[blockIdx.x * threads + rank] = of_block[rank];
}

template <memory where>
void check_rotation(unsigned blocks, dim3 shape, int rounds) {
  const unsigned threads = shape.x * shape.y * shape.z;
  CAPTURE(blocks, shape.x, shape.y, shape.z, rounds);
  testing::poisoned_output<int> values(blocks * threads);
  testing::poisoned_output<int> results(blocks * threads);
  rotate<where><<<blocks, shape>>>(values.data(), results.data(), rounds);
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> expected;
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned rank = 0; rank < threads; ++rank) {
      expected.push_back(start_value(block, (rank + static_cast<unsigned>(rounds)) % threads));
    }
  }
  REQUIRE(results.to_host() == expected);
  REQUIRE(results.overrun() == std::nullopt);
}

// Which threads return before the first barrier.
enum class leaving { odd, even, first_half, last_half, first_warp, all_but_first, all_but_last };
constexpr leaving every_way_to_leave[] = {
    leaving::odd,        leaving::even,          leaving::first_half,  leaving::last_half,
    leaving::first_warp, leaving::all_but_first, leaving::all_but_last};

__host__ __device__ bool leaves(leaving who, unsigned rank, unsigned threads) {
  switch (who) {
    case leaving::odd:
      return rank % 2 == 1;
    case leaving::even:
      return rank % 2 == 0;
    case leaving::first_half:
      return rank < threads / 2;
    case leaving::last_half:
      return rank >= threads / 2;
    case leaving::first_warp:
      return rank < 32;
    case leaving::all_but_first:
      return rank != 0;
    case leaving::all_but_last:
      return rank + 1 != threads;
  }
  return false;
}

constexpr int has_left = -1;

// Those that stay add up what those that stay have written, in each of three rounds.
__global__ void add_up_without_leavers(int* results, leaving who) {
  __shared__ int values[largest_block];
  const unsigned rank = threadIdx.x;
  if (leaves(who, rank, blockDim.x)) {
    results[rank] = has_left;
    return;
  }
  int sum = 0;
  for (int round = 1; round <= 3; ++round) {
    values[rank] = round * static_cast<int>(rank + 1);
    __syncthreads();
    for (unsigned other = 0; other < blockDim.x; ++other) {
      if (!leaves(who, other, blockDim.x)) sum += values[other];
    }
    __syncthreads();
  }
  results[rank] = sum;
}

// Thread r returns after r + 1 rounds. In each round, every thread that is left adds up all of
// them.
__global__ void leave_one_by_one(int* results) {
  __shared__ int values[largest_block];
  const unsigned rank = threadIdx.x;
  int sum = 0;
  for (unsigned round = 0; round <= rank; ++round) {
    values[rank] = static_cast<int>(rank + round);
    __syncthreads();
    for (unsigned other = round; other < blockDim.x; ++other) sum += values[other];
    __syncthreads();
  }
  results[rank] = sum;
}

// The condition with which a thread comes to a barrier that counts: true for anything but 0.
constexpr int rounds_of_counting = 8;
__host__ __device__ int condition(int round, unsigned rank, unsigned threads) {
  switch (round) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return rank + 1 == threads ? -1 : 0;
    case 3:
      return rank == 0 ? 1 << 30 : 0;
    case 4:
      return rank == 0 ? 0 : 256;
    case 5:
      return rank + 1 == threads ? 0 : -7;
    case 6:
      return rank % 2 ? static_cast<int>(rank) : 0;
    default:
      return static_cast<int>(rank) % 3;
  }
}

struct counted {
  int count, any, all;
  friend bool operator==(const counted&, const counted&) = default;
};

// Where `who` has a value, those threads return first.
__global__ void count_conditions(counted* results, bool some_leave, leaving who) {
  const unsigned rank = threadIdx.x;
  const unsigned threads = blockDim.x;
  if (some_leave && leaves(who, rank, threads)) return;
  for (int round = 0; round < rounds_of_counting; ++round) {
    const int mine = condition(round, rank, threads);
    counted& result = results[static_cast<unsigned>(round) * threads + rank];
    result.count = __syncthreads_count(mine);
    result.any = __syncthreads_or(mine) != 0;
    result.all = __syncthreads_and(mine) != 0;
  }
}

void check_counting(unsigned threads, std::optional<leaving> who) {
  CAPTURE(threads, who ? static_cast<int>(*who) : -1);
  const auto stays = [&](unsigned rank) { return !who || !leaves(*who, rank, threads); };
  testing::poisoned_output<counted> results(rounds_of_counting * threads);
  count_conditions<<<1, threads>>>(results.data(), who.has_value(), who.value_or(leaving::odd));
  CUDA_CHECK(cudaGetLastError());
  const std::vector<counted> got = results.to_host();
  for (int round = 0; round < rounds_of_counting; ++round) {
    counted expected{0, 0, 1};
    for (unsigned rank = 0; rank < threads; ++rank) {
      if (!stays(rank)) continue;
      const bool holds = condition(round, rank, threads) != 0;
      expected.count += holds;
      expected.any |= holds;
      expected.all &= holds;
    }
    for (unsigned rank = 0; rank < threads; ++rank) {
      if (!stays(rank)) continue;
      CAPTURE(round, rank);
      REQUIRE(got[static_cast<unsigned>(round) * threads + rank] == expected);
    }
  }
}

}  // namespace

TEST_CASE("a barrier orders shared memory in blocks of 1 to 1024 threads") {
  for (const unsigned threads : testing::every_block_size()) {
    check_rotation<memory::shared>(2, threads, 2);
  }
}

TEST_CASE("a barrier orders global memory within a block") {
  for (const unsigned threads : {1u, 2u, 31u, 32u, 33u, 64u, 100u, 256u, 1000u, 1024u}) {
    check_rotation<memory::global>(3, threads, 3);
  }
}

TEST_CASE("a barrier meets all threads of two- and three-dimensional blocks") {
  const dim3 shapes[] = {{32, 32, 1},  {1, 1024, 1}, {1, 1, 64}, {7, 3, 5},  {16, 1, 64},
                         {10, 10, 10}, {2, 2, 2},    {1, 5, 1},  {3, 1, 11}, {33, 31, 1}};
  for (const dim3 shape : shapes) check_rotation<memory::shared>(2, shape, 3);
}

TEST_CASE("many barriers in a loop, in more blocks than there are multiprocessors") {
  check_rotation<memory::shared>(600, 96, 20);
  check_rotation<memory::shared>(3, 512, 200);
}

TEST_CASE("a barrier does not wait for threads that have returned") {
  for (const unsigned threads : {2u, 31u, 33u, 64u, 65u, 256u, 1023u, 1024u}) {
    for (const leaving who : every_way_to_leave) {
      CAPTURE(threads, static_cast<int>(who));
      testing::poisoned_output<int> results(threads);
      add_up_without_leavers<<<1, threads>>>(results.data(), who);
      CUDA_CHECK(cudaGetLastError());
      int sum = 0;
      for (unsigned rank = 0; rank < threads; ++rank) {
        if (!leaves(who, rank, threads)) sum += (1 + 2 + 3) * static_cast<int>(rank + 1);
      }
      std::vector<int> expected(threads, has_left);
      for (unsigned rank = 0; rank < threads; ++rank) {
        if (!leaves(who, rank, threads)) expected[rank] = sum;
      }
      REQUIRE(results.to_host() == expected);
    }
  }
}

TEST_CASE("threads return one after the other between barriers") {
  for (const unsigned threads : {1u, 32u, 33u, 97u, 200u}) {
    CAPTURE(threads);
    testing::poisoned_output<int> results(threads);
    leave_one_by_one<<<1, threads>>>(results.data());
    CUDA_CHECK(cudaGetLastError());
    std::vector<int> expected;
    int sum = 0;
    for (unsigned round = 0; round < threads; ++round) {
      for (unsigned other = round; other < threads; ++other) sum += static_cast<int>(other + round);
      expected.push_back(sum);
    }
    REQUIRE(results.to_host() == expected);
  }
}

TEST_CASE("__syncthreads_count, _or and _and") {
  for (const unsigned threads : {1u, 2u, 31u, 32u, 33u, 64u, 100u, 255u, 1023u, 1024u}) {
    check_counting(threads, std::nullopt);
  }
}

TEST_CASE("__syncthreads_count, _or and _and count only threads that have not returned") {
  for (const unsigned threads : {2u, 33u, 64u, 127u, 1024u}) {
    for (const leaving who : every_way_to_leave) check_counting(threads, who);
  }
}
