// SPDX-License-Identifier: MIT
// Cooperative groups: the thread block, tiles of a warp, the coalesced group, the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

namespace cg = cooperative_groups;

// ---- the block

struct block_view {
  unsigned rank, threads, size;
  dim3 thread, block, dimensions;
  unsigned neighbour;
};

__global__ void look_at_block(block_view* views) {
  __shared__ unsigned ranks[1024];
  const cg::thread_block block = cg::this_thread_block();
  ranks[block.thread_rank()] = block.thread_rank();
  block.sync();
  const unsigned neighbour = ranks[(block.thread_rank() + 1) % block.num_threads()];
  cg::sync(block);
  views[blockIdx.x * block.size() + block.thread_rank()] = {block.thread_rank(),
                                                            block.num_threads(),
                                                            static_cast<unsigned>(block.size()),
                                                            block.thread_index(),
                                                            block.group_index(),
                                                            block.dim_threads(),
                                                            neighbour};
}

bool same(dim3 left, dim3 right) {
  return left.x == right.x && left.y == right.y && left.z == right.z;
}

// ---- tiles

// Whatever a tile can do. `value` is that of the thread.
struct tile_view {
  unsigned rank, threads, meta_rank, meta_size;
  int from_index, from_below, from_above, from_other;
  int any, all;
  unsigned ballot, matching;
  friend bool operator==(const tile_view&, const tile_view&) = default;
};

__host__ __device__ int value_of(unsigned rank) { return static_cast<int>(rank * rank + 7); }
__host__ __device__ bool condition_of(unsigned rank) { return rank % 5 < 2; }
__host__ __device__ int key_of(unsigned rank) { return static_cast<int>(rank % 3); }

template <class Tile>
__device__ tile_view look_at(const Tile& tile) {
  const unsigned rank = cg::this_thread_block().thread_rank();
  const int value = value_of(rank);
  tile_view view{};
  view.rank = tile.thread_rank();
  view.threads = tile.num_threads();
  view.meta_rank = tile.meta_group_rank();
  view.meta_size = tile.meta_group_size();
  view.from_index = tile.shfl(value, static_cast<int>(tile.num_threads() - 1));
  view.from_below = tile.shfl_up(value, 1);
  view.from_above = tile.shfl_down(value, 3);
  view.from_other = tile.shfl_xor(value, tile.num_threads() / 2);
  view.any = tile.any(condition_of(rank)) != 0;
  view.all = tile.all(condition_of(rank)) != 0;
  view.ballot = tile.ballot(condition_of(rank));
  view.matching = tile.match_any(key_of(rank));
  tile.sync();
  return view;
}

// What a tile of `size` threads should show to the thread of rank `rank` in a block of `threads`,
// if it is cut out of a group of `parent` threads.
tile_view expected_view(unsigned rank, unsigned size, unsigned parent) {
  const unsigned first = rank / size * size;
  const unsigned own = rank % size;
  tile_view view{};
  view.rank = own;
  view.threads = size;
  view.meta_rank = rank % parent / size;
  view.meta_size = parent / size;
  view.from_index = value_of(first + size - 1);
  view.from_below = value_of(own >= 1 ? rank - 1 : rank);
  view.from_above = value_of(own + 3 < size ? rank + 3 : rank);
  view.from_other = value_of(first + (own ^ size / 2));
  view.all = 1;
  for (unsigned other = 0; other < size; ++other) {
    const bool holds = condition_of(first + other);
    view.any |= holds;
    view.all &= holds;
    view.ballot |= static_cast<unsigned>(holds) << other;
    view.matching |= static_cast<unsigned>(key_of(first + other) == key_of(rank)) << other;
  }
  return view;
}

template <unsigned size>
__global__ void look_at_tile(tile_view* views) {
  const auto block = cg::this_thread_block();
  views[block.thread_rank()] = look_at(cg::tiled_partition<size>(block));
}

// The type that programs often write out.
__global__ void look_at_named_tile(tile_view* views) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  views[block.thread_rank()] = look_at(tile);
}

template <unsigned size>
__global__ void look_at_nested_tile(tile_view* views) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  views[block.thread_rank()] = look_at(cg::tiled_partition<size>(warp));
}

constexpr unsigned threads = 96;

template <class Launch>
void check_tiles(unsigned size, unsigned parent, Launch launch) {
  CAPTURE(size, parent);
  testing::poisoned_output<tile_view> views(threads);
  launch(views.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<tile_view> got = views.to_host();
  for (unsigned rank = 0; rank < threads; ++rank) {
    CAPTURE(rank);
    REQUIRE(got[rank] == expected_view(rank, size, parent));
  }
}

template <unsigned size>
void check_tiles_of() {
  check_tiles(size, threads, [](tile_view* views) { look_at_tile<size><<<1, threads>>>(views); });
  if constexpr (size < 32) {
    check_tiles(size, 32,
                [](tile_view* views) { look_at_nested_tile<size><<<1, threads>>>(views); });
  }
}

// Each tile goes its own way: as many rounds as its number says.
template <unsigned size>
__global__ void add_up_at_own_pace(int* sums) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  int sum = 0;
  for (unsigned round = 0; round <= tile.meta_group_rank(); ++round) {
    int value = static_cast<int>(threadIdx.x);
    for (unsigned distance = size / 2; distance > 0; distance /= 2) {
      value += tile.shfl_xor(value, distance);
    }
    sum += value;
  }
  sums[threadIdx.x] = sum;
}

template <unsigned size>
void check_own_pace() {
  CAPTURE(size);
  testing::poisoned_output<int> sums(threads);
  add_up_at_own_pace<size><<<1, threads>>>(sums.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> expected;
  for (unsigned rank = 0; rank < threads; ++rank) {
    unsigned sum = 0;
    for (unsigned lane = 0; lane < size; ++lane) sum += rank / size * size + lane;
    expected.push_back(static_cast<int>((rank / size + 1) * sum));
  }
  REQUIRE(sums.to_host() == expected);
}

// ---- reductions

struct reductions {
  int sum, least, greatest;
  unsigned all_bits, any_bits, odd_bits;
  double product;
  friend bool operator==(const reductions&, const reductions&) = default;
};

__host__ __device__ int signed_input(unsigned rank) {
  return static_cast<int>(rank * 37 % 101) - 50;
}
__host__ __device__ unsigned bit_input(unsigned rank) { return (rank + 1) * 0x9e3779b9u | 0x40u; }
// Powers of two, so that every order of multiplication is exact.
__host__ __device__ double factor(unsigned rank) { return rank % 3 == 0 ? 0.5 : 2.0; }

template <unsigned size>
__global__ void reduce_tiles(reductions* results) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const unsigned rank = threadIdx.x;
  reductions& result = results[rank];
  result.sum = cg::reduce(tile, signed_input(rank), cg::plus<int>());
  result.least = cg::reduce(tile, signed_input(rank), cg::less<int>());
  result.greatest = cg::reduce(tile, signed_input(rank), cg::greater<int>());
  result.all_bits = cg::reduce(tile, bit_input(rank), cg::bit_and<unsigned>());
  result.any_bits = cg::reduce(tile, bit_input(rank), cg::bit_or<unsigned>());
  result.odd_bits = cg::reduce(tile, bit_input(rank), cg::bit_xor<unsigned>());
  result.product = cg::reduce(tile, factor(rank), [](double x, double y) { return x * y; });
}

template <unsigned size>
void check_reductions() {
  testing::poisoned_output<reductions> results(threads);
  reduce_tiles<size><<<1, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<reductions> got = results.to_host();
  for (unsigned rank = 0; rank < threads; ++rank) {
    const unsigned first = rank / size * size;
    reductions expected{0, signed_input(first), signed_input(first), ~0u, 0, 0, 1.0};
    for (unsigned other = first; other < first + size; ++other) {
      expected.sum += signed_input(other);
      expected.least = std::min(expected.least, signed_input(other));
      expected.greatest = std::max(expected.greatest, signed_input(other));
      expected.all_bits &= bit_input(other);
      expected.any_bits |= bit_input(other);
      expected.odd_bits ^= bit_input(other);
      expected.product *= factor(other);
    }
    CAPTURE(size, rank);
    REQUIRE(got[rank] == expected);
  }
}

// ---- lanes that happen to run together

// Sums over threads with an odd index, by a leader for each group, however the lanes are grouped.
__global__ void count_coalesced(int* counter, int* sum, int* disagreeing) {
  if (threadIdx.x % 2 == 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  if (group.thread_rank() == 0) atomicAdd(counter, static_cast<int>(group.num_threads()));
  const int total = cg::reduce(group, static_cast<int>(threadIdx.x), cg::plus<int>());
  if (group.thread_rank() == 0) atomicAdd(sum, total);
  if (group.shfl(total, 0) != total) atomicAdd(disagreeing, 1);
  if (group.size() != group.num_threads()) atomicAdd(disagreeing, 1);
  if (!group.any(1) || !group.all(1) || group.any(0) || group.all(0)) atomicAdd(disagreeing, 1);
  if (group.ballot(group.thread_rank() == 0) != 1) atomicAdd(disagreeing, 1);
  group.sync();
}

// ---- the grid

// In every round, each block publishes a number and adds up what all blocks published in the round
// before.
__global__ void add_up_over_grid(long long* published, long long* sums, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const auto blocks = static_cast<unsigned>(grid.num_blocks());
  const auto block = static_cast<unsigned>(grid.block_rank());
  long long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == blockDim.x - 1) published[block] = (round + 1) * (block + 1LL);
    grid.sync();
    for (unsigned other = 0; other < blocks; ++other) sum += published[other];
    cg::sync(grid);
  }
  sums[grid.thread_rank()] = sum;
}

struct grid_view {
  unsigned long long rank, threads, blocks, block_rank;
  dim3 dimensions;
  int valid;
};
__global__ void look_at_grid(grid_view* views) {
  const cg::grid_group grid = cg::this_grid();
  views[grid.thread_rank()] = {grid.thread_rank(), grid.num_threads(), grid.num_blocks(),
                               grid.block_rank(),  grid.dim_blocks(),  grid.is_valid()};
}

unsigned blocks_that_are_resident(unsigned threads_of_block) {
  int of_each = 0;
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, add_up_over_grid,
                                                           static_cast<int>(threads_of_block), 0));
  return static_cast<unsigned>(of_each * checked::describe_device().multiprocessors);
}

}  // namespace

TEST_CASE("thread_block: ranks, dimensions and the barrier") {
  for (const dim3 shape : {dim3(1), dim3(77), dim3(1024), dim3(8, 4), dim3(3, 5, 7)}) {
    const unsigned count = shape.x * shape.y * shape.z;
    CAPTURE(shape.x, shape.y, shape.z);
    testing::poisoned_output<block_view> views(3 * count);
    look_at_block<<<3, shape>>>(views.data());
    CUDA_CHECK(cudaGetLastError());
    const std::vector<block_view> got = views.to_host();
    for (unsigned i = 0; i < 3 * count; ++i) {
      const block_view& view = got[i];
      const unsigned rank = i % count;
      REQUIRE(view.rank == rank);
      REQUIRE(view.threads == count);
      REQUIRE(view.size == count);
      REQUIRE(same(view.block, dim3(i / count, 0, 0)));
      REQUIRE(same(view.thread,
                   dim3(rank % shape.x, rank / shape.x % shape.y, rank / shape.x / shape.y)));
      REQUIRE(same(view.dimensions, shape));
      REQUIRE(view.neighbour == (rank + 1) % count);
    }
  }
}

TEST_CASE("tiles of 1 to 32 threads: ranks, shuffles and votes") {
  check_tiles_of<1>();
  check_tiles_of<2>();
  check_tiles_of<4>();
  check_tiles_of<8>();
  check_tiles_of<16>();
  check_tiles_of<32>();
  check_tiles(32, threads, [](tile_view* views) { look_at_named_tile<<<1, threads>>>(views); });
}

TEST_CASE("each tile of a warp goes at its own pace") {
  check_own_pace<1>();
  check_own_pace<2>();
  check_own_pace<4>();
  check_own_pace<8>();
  check_own_pace<16>();
  check_own_pace<32>();
}

TEST_CASE("cooperative_groups::reduce with every operation") {
  check_reductions<1>();
  check_reductions<2>();
  check_reductions<4>();
  check_reductions<8>();
  check_reductions<16>();
  check_reductions<32>();
}

TEST_CASE("coalesced_threads: leaders count their groups, however the lanes are grouped") {
  constexpr unsigned blocks = 4;
  for (const unsigned count : {2u, 32u, 75u, 512u}) {
    CAPTURE(count);
    checked::device_buffer<int> results(std::vector<int>{0, 0, 0});
    count_coalesced<<<blocks, count>>>(results.data(), results.data() + 1, results.data() + 2);
    CUDA_CHECK(cudaGetLastError());
    int odd = 0, sum = 0;
    for (unsigned i = 1; i < count; i += 2) ++odd, sum += static_cast<int>(i);
    REQUIRE(results.to_host() == std::vector<int>{4 * odd, 4 * sum, 0});
  }
}

TEST_CASE("grid_group::sync meets all blocks of a cooperative launch, again and again") {
  constexpr unsigned of_block = 64;
  constexpr int rounds = 25;
  const unsigned blocks = std::min(blocks_that_are_resident(of_block), 256u);
  for (const unsigned count : {1u, blocks / 2 + 1, blocks}) {
    CAPTURE(count);
    testing::poisoned_output<long long> published(count);
    testing::poisoned_output<long long> sums(count * of_block);
    long long* published_data = published.data();
    long long* sums_data = sums.data();
    int rounds_argument = rounds;
    void* arguments[] = {&published_data, &sums_data, &rounds_argument};
    CUDA_CHECK(
        cudaLaunchCooperativeKernel(add_up_over_grid, dim3(count), dim3(of_block), arguments));
    const long long each_round = count * (count + 1LL) / 2;
    const long long expected = each_round * rounds * (rounds + 1) / 2;
    REQUIRE(sums.to_host() == std::vector<long long>(count * of_block, expected));
  }
}

TEST_CASE("grid_group: ranks and sizes") {
  const bool cooperative = GENERATE(true, false);
  const dim3 blocks(2, 1, 2), shape(5, 3);
  constexpr unsigned total = 4 * 15;
  CAPTURE(cooperative);
  testing::poisoned_output<grid_view> views(total);
  if (cooperative) {
    grid_view* data = views.data();
    void* arguments[] = {&data};
    CUDA_CHECK(cudaLaunchCooperativeKernel(look_at_grid, blocks, shape, arguments));
  } else {
    look_at_grid<<<blocks, shape>>>(views.data());
    CUDA_CHECK(cudaGetLastError());
  }
  const std::vector<grid_view> got = views.to_host();
  for (unsigned i = 0; i < total; ++i) {
    REQUIRE(got[i].rank == i);
    REQUIRE(got[i].threads == total);
    REQUIRE(got[i].blocks == 4);
    REQUIRE(got[i].block_rank == i / 15);
    REQUIRE(same(got[i].dimensions, blocks));
    if (cooperative) REQUIRE(got[i].valid != 0);
  }
}

TEST_CASE("a cooperative launch of more blocks than are resident is refused") {
  constexpr unsigned of_block = 64;
  const unsigned blocks = blocks_that_are_resident(of_block) + 1;
  testing::poisoned_output<long long> published(blocks);
  testing::poisoned_output<long long> sums(blocks * of_block);
  const std::vector<long long> untouched = sums.to_host();
  long long* published_data = published.data();
  long long* sums_data = sums.data();
  int rounds = 1;
  void* arguments[] = {&published_data, &sums_data, &rounds};
  const cudaError_t error =
      cudaLaunchCooperativeKernel(add_up_over_grid, dim3(blocks), dim3(of_block), arguments);
  REQUIRE(error == cudaErrorCooperativeLaunchTooLarge);
  REQUIRE(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  REQUIRE(sums.to_host() == untouched);
  // It is not sticky.
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}
