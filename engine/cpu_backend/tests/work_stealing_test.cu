// SPDX-License-Identifier: MIT
// cuda::for_each_canceled_block: each block index is worked on exactly once, by whomever. A GPU
// cancels blocks from compute capability 10.0 on; below that each block works on its own index.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cuda/version>
#include <cuda/work_stealing>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

template <int rank, class Function>
__device__ void for_each_block(Function function) {
#if CCCL_VERSION >= 3002000
  cuda::device::for_each_canceled_block<rank>(function);
#else
  cuda::for_each_canceled_block<rank>(function);
#endif
}

// The rank that the template has by itself.
template <class Function>
__device__ void for_each_block_by_default(Function function) {
#if CCCL_VERSION >= 3002000
  cuda::device::for_each_canceled_block(function);
#else
  cuda::for_each_canceled_block(function);
#endif
}

__device__ unsigned thread_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

struct tally {
  unsigned started;  // blocks that ran at all
  unsigned odd;      // indices with a component that they should not have
};

// Counts a visit of the block index by this thread. Components beyond the rank are 1 in the block's
// own index and 0 in one that it took over.
template <int rank>
__device__ void visit(dim3 index, unsigned* visits, tally* count) {
  const bool is_own = index.x == blockIdx.x && (rank < 2 || index.y == blockIdx.y);
  const unsigned beyond = is_own ? 1 : 0;
  if ((rank < 3 && index.z != beyond) || (rank < 2 && index.y != beyond)) {
    atomicAdd(&count->odd, 1);
  }
  const unsigned y = rank >= 2 ? index.y : 0;
  const unsigned z = rank >= 3 ? index.z : 0;
  const unsigned block = (z * gridDim.y + y) * gridDim.x + index.x;
  atomicAdd(visits + block * (blockDim.x * blockDim.y * blockDim.z) + thread_rank(), 1);
}

template <int rank>
__global__ void visit_all(unsigned* visits, tally* count) {
  if (thread_rank() == 0) atomicAdd(&count->started, 1);
  for_each_block<rank>([=](dim3 index) { visit<rank>(index, visits, count); });
}

__global__ void visit_all_by_default(unsigned* visits, tally* count) {
  if (thread_rank() == 0) atomicAdd(&count->started, 1);
  for_each_block_by_default([=](dim3 index) { visit<3>(index, visits, count); });
}

using checked::device_cancels_blocks;

template <class Launch>
void check_visits(dim3 blocks, dim3 threads, Launch launch) {
  CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z);
  const unsigned total = blocks.x * blocks.y * blocks.z;
  const unsigned of_block = threads.x * threads.y * threads.z;
  checked::device_buffer<unsigned> visits(std::vector<unsigned>(total * of_block, 0));
  checked::device_buffer<tally> count(std::vector<tally>{{0, 0}});
  launch(visits.data(), count.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(visits.to_host() == std::vector<unsigned>(total * of_block, 1));
  const tally got = count.to_host()[0];
  REQUIRE(got.odd == 0);
  if (device_cancels_blocks()) {
    REQUIRE(got.started >= 1);
    REQUIRE(got.started <= total);
  } else {
    REQUIRE(got.started == total);
  }
}

template <int rank>
void check_rank(dim3 blocks, dim3 threads) {
  check_visits(blocks, threads, [=](unsigned* visits, tally* count) {
    visit_all<rank><<<blocks, threads>>>(visits, count);
  });
}

// Tile 0 takes as long as half of all tiles together, so that its block can take no other
// meanwhile. It must not wait for all others: its block may have canceled one of them already, to
// work on it next.
__global__ void wait_for_half_of_others(unsigned* done, unsigned* started, bool waits) {
  if (threadIdx.x == 0) atomicAdd(started, 1);
  for_each_block<1>([=](dim3 index) {
    if (threadIdx.x == 0) {
      if (waits && index.x == 0) {
        while (atomicAdd(done, 0) < gridDim.x / 2) {
        }
      }
      atomicAdd(done, 1);
    }
    __syncthreads();
  });
}

// The example of libcu++'s documentation: a prologue before, an epilogue after, vector addition
// between.
__global__ void add(const int* a, const int* b, int* c, int count, unsigned* prologues,
                    unsigned* epilogues) {
  if (threadIdx.x == 0) atomicAdd(prologues, 1);
  for_each_block<1>([=](dim3 index) {
    const int i = static_cast<int>(index.x * blockDim.x + threadIdx.x);
    if (i < count) c[i] += a[i] + b[i];
  });
  if (threadIdx.x == 0) atomicAdd(epilogues, 1);
}

// Tiles that use the same shared memory, one after the other.
__global__ void reverse_tiles(const int* in, int* out) {
  __shared__ int tile[64];
  for_each_block<1>([=](dim3 index) {
    __syncthreads();
    tile[threadIdx.x] = in[index.x * 64 + threadIdx.x];
    __syncthreads();
    out[index.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
  });
}

}  // namespace

TEST_CASE("for_each_canceled_block of rank 1 works on each block index exactly once") {
  check_rank<1>(1, 1);
  check_rank<1>(1, 64);
  check_rank<1>(2, 33);
  check_rank<1>(1000, 64);
  check_rank<1>(997, 7);
  check_rank<1>(20000, 1);
}

TEST_CASE("for_each_canceled_block of rank 2 works on each block index exactly once") {
  check_rank<2>({7, 9}, {4, 8});
  check_rank<2>({100, 31}, {32, 2});
  check_rank<2>({1, 300}, {1, 5});
  check_rank<2>(200, 32);
}

TEST_CASE("for_each_canceled_block of rank 3 works on each block index exactly once") {
  check_rank<3>({5, 6, 7}, {2, 3, 4});
  check_rank<3>({1, 1, 200}, {1, 1, 8});
  check_rank<3>({13, 11}, {8, 4});
  check_rank<3>(300, 16);
}

TEST_CASE("for_each_canceled_block has rank 3 by itself") {
  const dim3 blocks(9, 5, 3), threads(4, 2, 2);
  check_visits(blocks, threads, [=](unsigned* visits, tally* count) {
    visit_all_by_default<<<blocks, threads>>>(visits, count);
  });
}

TEST_CASE("blocks that run take over blocks that have not started") {
  const auto multiprocessors = static_cast<unsigned>(checked::describe_device().multiprocessors);
  if (multiprocessors < 2) SKIP("a block that waits for others needs two multiprocessors");
  // Far more blocks than can be resident.
  const unsigned blocks = 40 * multiprocessors;
  for (const bool waits : {true, false}) {
    CAPTURE(waits);
    checked::device_buffer<unsigned> done(std::vector<unsigned>{0});
    checked::device_buffer<unsigned> started(std::vector<unsigned>{0});
    wait_for_half_of_others<<<blocks, 64>>>(done.data(), started.data(), waits);
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(done.to_host() == std::vector<unsigned>{blocks});
    const unsigned stolen = blocks - started.to_host()[0];
    if (device_cancels_blocks()) {
      REQUIRE(stolen > 0);
    } else {
      REQUIRE(stolen == 0);
    }
  }
}

TEST_CASE("vector addition by work stealing, with a prologue and an epilogue") {
  constexpr int count = 10000;
  std::vector<int> a, b, expected;
  for (int i = 0; i < count; ++i) {
    a.push_back(i);
    b.push_back(2 * i * i % 1000);
    expected.push_back(5 + a.back() + b.back());
  }
  const checked::device_buffer<int> device_a(a);
  const checked::device_buffer<int> device_b(b);
  checked::device_buffer<int> c(std::vector<int>(count, 5));
  checked::device_buffer<unsigned> counters(std::vector<unsigned>{0, 0});
  constexpr unsigned blocks = (count + 255) / 256;
  add<<<blocks, 256>>>(device_a.data(), device_b.data(), c.data(), count, counters.data(),
                       counters.data() + 1);
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(c.to_host() == expected);
  const std::vector<unsigned> prologues_and_epilogues = counters.to_host();
  REQUIRE(prologues_and_epilogues[0] == prologues_and_epilogues[1]);
  REQUIRE(prologues_and_epilogues[0] <= blocks);
}

TEST_CASE("tiles that reuse shared memory, with barriers between them") {
  constexpr unsigned blocks = 500;
  std::vector<int> values, expected(blocks * 64);
  for (unsigned i = 0; i < blocks * 64; ++i) values.push_back(static_cast<int>(i * 7));
  for (unsigned i = 0; i < blocks * 64; ++i) expected[i] = values[i / 64 * 64 + 63 - i % 64];
  const checked::device_buffer<int> in(values);
  testing::poisoned_output<int> out(blocks * 64);
  reverse_tiles<<<blocks, 64>>>(in.data(), out.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(out.to_host() == expected);
}
