// SPDX-License-Identifier: MIT
// __syncwarp(), votes, matches, shuffles and reductions of a warp. The references are computed on
// the host, lane by lane; that of the shuffles is the pseudocode of `shfl` in NVIDIA's PTX ISA
// manual.
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

constexpr unsigned full_mask = 0xffffffffu;
constexpr unsigned lanes = 32;
constexpr unsigned block_sizes[] = {1, 2, 31, 32, 33, 40, 63, 64, 65, 96, 127, 1000, 1023, 1024};

// The lanes of a warp that a block of `threads` threads really has.
__host__ __device__ unsigned lanes_of_warp(unsigned warp, unsigned threads) {
  const unsigned behind = threads - warp * lanes;
  return behind < lanes ? behind : lanes;
}

// A value that differs from thread to thread in its high and in its low bits.
template <class T>
__host__ __device__ T value_of(unsigned thread) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(thread) * static_cast<T>(1.25) - 3;
  } else {
    return static_cast<T>((thread + 1) * 0x9e3779b97f4a7c15ull);
  }
}

__global__ void exchange_after_syncwarp(int* results) {
  __shared__ int values[1024];
  const unsigned warp = threadIdx.x / lanes;
  const unsigned lane = threadIdx.x % lanes;
  const unsigned present = lanes_of_warp(warp, blockDim.x);
  int value = static_cast<int>(threadIdx.x);
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = value;
    __syncwarp();
    value = values[warp * lanes + (lane + 1) % present];
    __syncwarp();
  }
  results[threadIdx.x] = value;
}

struct votes {
  unsigned ballot;
  int any, all;
  friend bool operator==(const votes&, const votes&) = default;
};

constexpr int rounds_of_votes = 6;
__host__ __device__ int condition(int round, unsigned thread) {
  switch (round) {
    case 0:
      return 0;
    case 1:
      return -1;
    case 2:
      return thread % lanes == 0 ? 256 : 0;
    case 3:
      return thread % lanes == 5 ? 0 : 1;
    case 4:
      return thread % 3 == 0;
    default:
      return static_cast<int>(thread) & 4;
  }
}

// Lanes in `left` return first; the others vote with `mask`, which may still name those.
__global__ void vote(votes* results, unsigned mask, unsigned left) {
  const unsigned lane = threadIdx.x % lanes;
  if (left >> lane & 1) return;
  if (!(mask >> lane & 1)) return;
  for (int round = 0; round < rounds_of_votes; ++round) {
    const int mine = condition(round, threadIdx.x);
    votes& result = results[static_cast<unsigned>(round) * blockDim.x + threadIdx.x];
    result.ballot = __ballot_sync(mask, mine);
    result.any = __any_sync(mask, mine) != 0;
    result.all = __all_sync(mask, mine) != 0;
  }
}

void check_votes(unsigned threads, unsigned mask, unsigned left) {
  CAPTURE(threads, mask, left);
  testing::poisoned_output<votes> results(rounds_of_votes * threads);
  vote<<<1, threads>>>(results.data(), mask, left);
  CUDA_CHECK(cudaGetLastError());
  const std::vector<votes> got = results.to_host();
  for (int round = 0; round < rounds_of_votes; ++round) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      if (!((mask & ~left) >> thread % lanes & 1)) continue;
      votes expected{0, 0, 1};
      for (unsigned lane = 0; lane < lanes_of_warp(thread / lanes, threads); ++lane) {
        if (!((mask & ~left) >> lane & 1)) continue;
        const bool holds = condition(round, thread / lanes * lanes + lane) != 0;
        expected.ballot |= static_cast<unsigned>(holds) << lane;
        expected.any |= holds;
        expected.all &= holds;
      }
      CAPTURE(round, thread);
      REQUIRE(got[static_cast<unsigned>(round) * threads + thread] == expected);
    }
  }
}

// ---- shuffles

enum shuffle_form { by_index, up, down, by_xor };
constexpr int forms = 4;
constexpr int widths[] = {1, 2, 4, 8, 16, 32};
constexpr int first_argument = -1, arguments = 36;  // -1 to 34: past the width, and past the warp

constexpr std::size_t slot(std::size_t width, int argument, int form, unsigned threads) {
  const auto offset = static_cast<std::size_t>(argument - first_argument);
  return ((width * arguments + offset) * forms + static_cast<std::size_t>(form)) * threads;
}

template <class T>
__global__ void every_shuffle(T* results) {
  const T value = value_of<T>(threadIdx.x);
  std::size_t at = threadIdx.x;
  for (int width = 1; width <= 32; width *= 2) {
    for (int argument = first_argument; argument < first_argument + arguments; ++argument) {
      const auto delta = static_cast<unsigned>(argument);
      results[at] = __shfl_sync(full_mask, value, argument, width);
      results[at + blockDim.x] = __shfl_up_sync(full_mask, value, delta, width);
      results[at + 2 * blockDim.x] = __shfl_down_sync(full_mask, value, delta, width);
      results[at + 3 * blockDim.x] = __shfl_xor_sync(full_mask, value, argument, width);
      at += forms * blockDim.x;
    }
  }
}

// The lane that `lane` reads from. b, c and their parts are named as in the PTX manual; the C++
// functions pass c = (32 - width) << 8, and all but `up` set its five lowest bits.
int source_lane(int form, int lane, int argument, int width) {
  const int bval = argument & 31;
  const int segmask = 32 - width;
  const int cval = form == up ? 0 : 31;
  const int max_lane = (lane & segmask) | (cval & ~segmask);
  const int min_lane = lane & segmask;
  int source = 0;
  bool in_range = false;
  switch (form) {
    case up:
      source = lane - bval;
      in_range = source >= max_lane;
      break;
    case down:
      source = lane + bval;
      in_range = source <= max_lane;
      break;
    case by_xor:
      source = lane ^ bval;
      in_range = source <= max_lane;
      break;
    case by_index:
      source = min_lane | (bval & ~segmask);
      in_range = source <= max_lane;
      break;
  }
  return in_range ? source : lane;
}

// ---- several masks at once

__host__ __device__ unsigned mask_of_group(unsigned group, unsigned groups) {
  unsigned mask = 0;
  for (unsigned lane = group; lane < lanes; lane += groups) mask |= 1u << lane;
  return mask;
}

// Lanes go apart by lane % groups. Each group adds up its values by shuffles of its own, as often
// as its number says and one time more, so that the groups are never in step.
__global__ void add_up_in_groups(int* results, unsigned groups) {
  const unsigned lane = threadIdx.x % lanes;
  const unsigned group = lane % groups;
  const unsigned mask = mask_of_group(group, groups);
  int sum = 0;
  for (unsigned round = 0; round <= group; ++round) {
    for (unsigned source = group; source < lanes; source += groups) {
      sum += __shfl_sync(mask, static_cast<int>(threadIdx.x), static_cast<int>(source));
    }
    __syncwarp(mask);
  }
  results[threadIdx.x] = sum;
}

// The halves of a warp are in different operations at the same time.
__global__ void different_halves(unsigned* results) {
  const unsigned lane = threadIdx.x % lanes;
  unsigned result = 0;
  if (lane < 16) {
    result = threadIdx.x;
    for (int distance = 1; distance < 16; distance *= 2) {
      result += __shfl_xor_sync(0x0000ffffu, result, distance);
    }
  } else {
    for (unsigned bit = 0; bit < 4; ++bit) {
      result = result * 3 + __ballot_sync(0xffff0000u, static_cast<int>(lane >> bit & 1));
    }
  }
  results[threadIdx.x] = result;
}

// ---- matches

// Two lanes have the same key if lane % kinds is the same; the keys differ in their highest bits
// only.
template <class T>
__host__ __device__ T key_of(unsigned lane, unsigned kinds) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(1 << lane % kinds);
  } else {
    return static_cast<T>(lane % kinds) << (sizeof(T) * 8 - 6);
  }
}

struct matches {
  unsigned any, all;
  int all_equal;
  friend bool operator==(const matches&, const matches&) = default;
};

template <class T>
__global__ void match(matches* results, unsigned mask, unsigned kinds) {
  const unsigned lane = threadIdx.x % lanes;
  if (!(mask >> lane & 1)) return;
  const T key = key_of<T>(lane, kinds);
  matches& result = results[threadIdx.x];
  result.any = __match_any_sync(mask, key);
  result.all = __match_all_sync(mask, key, &result.all_equal);
  result.all_equal = result.all_equal != 0;
}

// ---- reductions

struct reductions {
  unsigned add, least, greatest, all_bits, any_bits, odd_bits;
  int signed_add, signed_least, signed_greatest;
  friend bool operator==(const reductions&, const reductions&) = default;
};

__host__ __device__ unsigned reduction_input(unsigned thread) {
  return (thread + 1) * 0x9e3779b9u | 0x40u;
}

__global__ void reduce_groups([[maybe_unused]] reductions* results,
                              [[maybe_unused]] unsigned groups) {
// The hardware has these from compute capability 8.0 on, and nvcc knows them only there.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const unsigned mask = mask_of_group(threadIdx.x % lanes % groups, groups);
  const unsigned value = reduction_input(threadIdx.x);
  const int signed_value = static_cast<int>(value);
  reductions& result = results[threadIdx.x];
  result.add = __reduce_add_sync(mask, value);
  result.least = __reduce_min_sync(mask, value);
  result.greatest = __reduce_max_sync(mask, value);
  result.all_bits = __reduce_and_sync(mask, value);
  result.any_bits = __reduce_or_sync(mask, value);
  result.odd_bits = __reduce_xor_sync(mask, value);
  result.signed_add = __reduce_add_sync(mask, signed_value);
  result.signed_least = __reduce_min_sync(mask, signed_value);
  result.signed_greatest = __reduce_max_sync(mask, signed_value);
#endif
}

// ---- lanes that happen to run together

// The leader of each group counts its lanes. How the lanes are grouped is not tested.
__global__ void count_by_leaders(int* counter, unsigned* masks, unsigned live) {
  if (threadIdx.x % lanes >= live) return;
  const unsigned mask = __activemask();
  const unsigned leader = static_cast<unsigned>(__ffs(static_cast<int>(mask))) - 1;
  if (threadIdx.x % lanes == leader) atomicAdd(counter, __popc(mask));
  masks[blockIdx.x * blockDim.x + threadIdx.x] = mask;
}

// Lanes from `live` on return while the others wait for them already.
__global__ void sum_without_returned_lanes(int* results, unsigned live) {
  const unsigned lane = threadIdx.x;
  if (lane >= live) return;
  int sum = 0;
  for (unsigned source = 0; source < live; ++source) {
    sum += __shfl_sync(full_mask, static_cast<int>(lane * lane), static_cast<int>(source));
    __syncwarp();
  }
  results[lane] = sum;
}

}  // namespace

TEST_CASE("__syncwarp orders shared memory within a warp, in blocks of any size") {
  for (const unsigned threads : block_sizes) {
    CAPTURE(threads);
    testing::poisoned_output<int> results(threads);
    exchange_after_syncwarp<<<1, threads>>>(results.data());
    CUDA_CHECK(cudaGetLastError());
    std::vector<int> expected;
    for (unsigned thread = 0; thread < threads; ++thread) {
      const unsigned warp = thread / lanes;
      const unsigned source = (thread % lanes + 3) % lanes_of_warp(warp, threads);
      expected.push_back(static_cast<int>(warp * lanes + source));
    }
    REQUIRE(results.to_host() == expected);
  }
}

TEST_CASE("votes of whole warps, in blocks of any size") {
  for (const unsigned threads : block_sizes) check_votes(threads, full_mask, 0);
}

TEST_CASE("votes of some lanes only") {
  for (const unsigned mask : {0x1u, 0x80000000u, 0xffffu, 0xffff0000u, 0x55555555u, 0x0ff00ff0u}) {
    check_votes(64, mask, 0);
  }
}

TEST_CASE("votes do not wait for lanes that have returned") {
  for (const unsigned left : {0x1u, 0x80000000u, 0xffffu, 0xffff0000u, 0x55555555u, 0x7fffffffu}) {
    check_votes(64, full_mask, left);
    check_votes(45, full_mask, left);
  }
  check_votes(64, 0x00ffff00u, 0x000000f0u | 0x00f00000u);
}

TEMPLATE_TEST_CASE("every shuffle with every width and distance", "", int, unsigned, long,
                   unsigned long, long long, unsigned long long, float, double) {
  constexpr unsigned threads = 64;
  testing::poisoned_output<TestType> results(slot(std::size(widths), first_argument, 0, threads));
  every_shuffle<<<1, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<TestType> got = results.to_host();
  REQUIRE(results.overrun() == std::nullopt);
  for (std::size_t width = 0; width < std::size(widths); ++width) {
    for (int argument = first_argument; argument < first_argument + arguments; ++argument) {
      for (int form = 0; form < forms; ++form) {
        std::vector<TestType> expected;
        for (unsigned thread = 0; thread < threads; ++thread) {
          const int lane = static_cast<int>(thread % lanes);
          const int source = source_lane(form, lane, argument, widths[width]);
          expected.push_back(
              value_of<TestType>(thread / lanes * lanes + static_cast<unsigned>(source)));
        }
        const auto begin =
            got.begin() + static_cast<std::ptrdiff_t>(slot(width, argument, form, threads));
        CAPTURE(widths[width], argument, form);
        REQUIRE(std::vector<TestType>(begin, begin + threads) == expected);
      }
    }
  }
}

TEST_CASE("several groups of one warp shuffle at the same time") {
  constexpr unsigned threads = 96;
  for (unsigned groups = 1; groups <= lanes; ++groups) {
    CAPTURE(groups);
    testing::poisoned_output<int> results(threads);
    add_up_in_groups<<<1, threads>>>(results.data(), groups);
    CUDA_CHECK(cudaGetLastError());
    std::vector<int> expected;
    for (unsigned thread = 0; thread < threads; ++thread) {
      const unsigned group = thread % lanes % groups;
      unsigned sum = 0;
      for (unsigned lane = group; lane < lanes; lane += groups)
        sum += thread / lanes * lanes + lane;
      expected.push_back(static_cast<int>((group + 1) * sum));
    }
    REQUIRE(results.to_host() == expected);
  }
}

TEST_CASE("the halves of a warp are in different operations at the same time") {
  constexpr unsigned threads = 64;
  testing::poisoned_output<unsigned> results(threads);
  different_halves<<<1, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned> expected;
  for (unsigned thread = 0; thread < threads; ++thread) {
    const unsigned first = thread / lanes * lanes;
    unsigned result = 0;
    if (thread % lanes < 16) {
      for (unsigned lane = 0; lane < 16; ++lane) result += first + lane;
    } else {
      for (unsigned bit = 0; bit < 4; ++bit) {
        unsigned ballot = 0;
        for (unsigned lane = 16; lane < lanes; ++lane) ballot |= (lane >> bit & 1) << lane;
        result = result * 3 + ballot;
      }
    }
    expected.push_back(result);
  }
  REQUIRE(results.to_host() == expected);
}

TEMPLATE_TEST_CASE("__match_any_sync and __match_all_sync", "", int, unsigned, long, unsigned long,
                   long long, unsigned long long, float, double) {
  constexpr unsigned threads = 64;
  for (const unsigned mask : {full_mask, 0x0000ffffu, 0xf0f0f0f0u, 0x00000010u}) {
    for (const unsigned kinds : {1u, 2u, 5u, 16u}) {
      CAPTURE(mask, kinds);
      testing::poisoned_output<matches> results(threads);
      match<TestType><<<1, threads>>>(results.data(), mask, kinds);
      CUDA_CHECK(cudaGetLastError());
      const std::vector<matches> got = results.to_host();
      for (unsigned thread = 0; thread < threads; ++thread) {
        if (!(mask >> thread % lanes & 1)) continue;
        matches expected{0, mask, 1};
        for (unsigned lane = 0; lane < lanes; ++lane) {
          if (!(mask >> lane & 1)) continue;
          const bool equal = lane % kinds == thread % lanes % kinds;
          expected.any |= static_cast<unsigned>(equal) << lane;
        }
        if (expected.any != mask) expected.all = 0, expected.all_equal = 0;
        CAPTURE(thread);
        REQUIRE(got[thread] == expected);
      }
    }
  }
}

TEST_CASE("__reduce_add_sync and its kin") {
  if (checked::describe_device().compute_capability_major < 8) {
    SKIP("the device's compute capability is below 8.0");
  }
  constexpr unsigned threads = 64;
  for (const unsigned groups : {1u, 2u, 3u, 8u, 32u}) {
    CAPTURE(groups);
    testing::poisoned_output<reductions> results(threads);
    reduce_groups<<<1, threads>>>(results.data(), groups);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<reductions> got = results.to_host();
    for (unsigned thread = 0; thread < threads; ++thread) {
      reductions expected{0, ~0u, 0, ~0u, 0, 0, 0, INT32_MAX, INT32_MIN};
      for (unsigned lane = thread % lanes % groups; lane < lanes; lane += groups) {
        const unsigned value = reduction_input(thread / lanes * lanes + lane);
        const int signed_value = static_cast<int>(value);
        expected.add += value;
        expected.least = std::min(expected.least, value);
        expected.greatest = std::max(expected.greatest, value);
        expected.all_bits &= value;
        expected.any_bits |= value;
        expected.odd_bits ^= value;
        expected.signed_least = std::min(expected.signed_least, signed_value);
        expected.signed_greatest = std::max(expected.signed_greatest, signed_value);
      }
      expected.signed_add = static_cast<int>(expected.add);
      CAPTURE(thread);
      REQUIRE(got[thread] == expected);
    }
  }
}

TEST_CASE("__activemask: leaders count their groups, however the lanes are grouped") {
  constexpr unsigned blocks = 5;
  for (const unsigned threads : {1u, 32u, 40u, 256u}) {
    for (const unsigned live : {1u, 7u, 32u}) {
      CAPTURE(threads, live);
      testing::poisoned_output<unsigned> masks(blocks * threads);
      checked::device_buffer<int> counter(std::vector<int>{0});
      count_by_leaders<<<blocks, threads>>>(counter.data(), masks.data(), live);
      CUDA_CHECK(cudaGetLastError());
      const std::vector<unsigned> got = masks.to_host();
      int expected = 0;
      for (unsigned thread = 0; thread < blocks * threads; ++thread) {
        const unsigned lane = thread % threads % lanes;
        if (lane >= live) continue;
        ++expected;
        CAPTURE(thread, got[thread]);
        REQUIRE((got[thread] >> lane & 1) == 1);
        // All lanes of a group see the same group.
        for (unsigned other = 0; other < lanes; ++other) {
          if (got[thread] >> other & 1) REQUIRE(got[thread - lane + other] == got[thread]);
        }
      }
      REQUIRE(counter.to_host() == std::vector<int>{expected});
    }
  }
}

TEST_CASE("warp operations do not wait for lanes that return meanwhile") {
  for (unsigned live = 1; live <= lanes; ++live) {
    CAPTURE(live);
    testing::poisoned_output<int> results(live);
    sum_without_returned_lanes<<<1, lanes>>>(results.data(), live);
    CUDA_CHECK(cudaGetLastError());
    int sum = 0;
    for (unsigned lane = 0; lane < live; ++lane) sum += static_cast<int>(lane * lane);
    REQUIRE(results.to_host() == std::vector<int>(live, sum));
  }
}
