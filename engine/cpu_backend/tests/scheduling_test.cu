// SPDX-License-Identifier: MIT
// Which blocks and threads a launch runs, and which of them run side by side: grids of one to three
// dimensions, blocks that wait for each other, threads of one block that wait for each other.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <cuda/cmath>
#include <limits>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

// ---- every thread of every block, exactly once

struct visit {
  int count;
  uint3 block, thread;
  dim3 blocks, threads;
};

__global__ void note_visit(visit* visits) {
  const std::size_t block =
      (std::size_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  visit& mine = visits[block * (blockDim.x * blockDim.y * blockDim.z) + thread];
  atomicAdd(&mine.count, 1);
  mine.block = blockIdx;
  mine.thread = threadIdx;
  mine.blocks = gridDim;
  mine.threads = blockDim;
}

// Component by component, because uint3 and dim3 have no ==.
template <class Index>
bool is(const Index& index, unsigned x, unsigned y, unsigned z) {
  return index.x == x && index.y == y && index.z == z;
}

void check_visits(dim3 blocks, dim3 threads) {
  CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z);
  const std::size_t of_block = std::size_t{threads.x} * threads.y * threads.z;
  const std::size_t total = std::size_t{blocks.x} * blocks.y * blocks.z * of_block;
  checked::device_buffer<visit> visits(total);
  visits.fill_bytes(0);
  note_visit<<<blocks, threads>>>(visits.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<visit> got = visits.to_host();
  std::size_t right = 0;
  auto next = got.begin();
  for (unsigned bz = 0; bz < blocks.z; ++bz)
    for (unsigned by = 0; by < blocks.y; ++by)
      for (unsigned bx = 0; bx < blocks.x; ++bx)
        for (unsigned tz = 0; tz < threads.z; ++tz)
          for (unsigned ty = 0; ty < threads.y; ++ty)
            for (unsigned tx = 0; tx < threads.x; ++tx, ++next)
              right += next->count == 1 && is(next->block, bx, by, bz) &&
                       is(next->thread, tx, ty, tz) &&
                       is(next->blocks, blocks.x, blocks.y, blocks.z) &&
                       is(next->threads, threads.x, threads.y, threads.z);
  REQUIRE(right == total);
}

__global__ void count_blocks(unsigned long long* counter, unsigned* greatest) {
  if (threadIdx.x != 0) return;
  atomicAdd(counter, 1);
  atomicMax(greatest, blockIdx.x);
}

// ---- blocks that run side by side

// Every block waits until all have come. Ends only if all are resident at the same time.
__global__ void meet_all_blocks(unsigned* arrived, unsigned* met) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
  }
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) atomicAdd(met, 1);
}

// Block 0 waits until all others have come. Ends as long as they have another place to run in, one
// after the other.
__global__ void wait_for_all_others(unsigned* arrived) {
  if (blockIdx.x > 0) {
    atomicAdd(arrived, 1);
  } else {
    while (atomicAdd(arrived, 0) < gridDim.x - 1) {
    }
  }
}

// Two blocks count to `last` in turns: block 0 makes numbers odd, block 1 makes them even. A
// `volatile` one waits by reading, the other by atomics.
template <bool by_volatile>
__global__ void ping_pong(int* ball, int last, int* hits) {
  if (threadIdx.x == 0) {
    const int parity = static_cast<int>(blockIdx.x);
    int seen = 0;
    do {
      if constexpr (by_volatile) {
        seen = *static_cast<volatile int*>(ball);
      } else {
        seen = atomicAdd(ball, 0);
      }
      if (seen < last && seen % 2 == parity) {
        ++hits[blockIdx.x];
        __threadfence();
        if constexpr (by_volatile) {
          *static_cast<volatile int*>(ball) = seen + 1;
        } else {
          atomicExch(ball, seen + 1);
        }
      }
    } while (seen < last);
  }
  __syncthreads();
}

template <bool by_volatile>
void check_ping_pong() {
  constexpr int last = 1000;
  checked::device_buffer<int> ball(std::vector<int>{0});
  checked::device_buffer<int> hits(std::vector<int>{0, 0});
  ping_pong<by_volatile><<<2, 64>>>(ball.data(), last, hits.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(ball.to_host() == std::vector<int>{last});
  REQUIRE(hits.to_host() == std::vector<int>{last / 2, last / 2});
}

// Blocks in the order in which they start, whatever their index, each adding to what the one before
// it has published. Needs no more than that a block that has started goes on.
__global__ void add_in_a_chain(unsigned* tickets, unsigned long long* published, unsigned* ready) {
  __shared__ unsigned ticket;
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1);
  const int sum = __syncthreads_count(threadIdx.x % 2);
  if (threadIdx.x == 0) {
    unsigned long long before = 0;
    if (ticket > 0) {
      while (atomicAdd(ready + ticket - 1, 0) == 0) {
      }
      __threadfence();
      before = published[ticket - 1];
    }
    published[ticket] = before + static_cast<unsigned long long>(sum) + ticket;
    __threadfence();
    atomicExch(ready + ticket, 1);
  }
}

// ---- threads of one block that wait for each other without a barrier

// Thread i waits for thread i + 1, and the last one for none.
template <bool with_nanosleep>
__global__ void pass_down(int* flags, int* order) {
  const unsigned rank = threadIdx.x;
  if (rank + 1 < blockDim.x) {
    while (atomicAdd(flags + rank + 1, 0) == 0) {
      if constexpr (with_nanosleep) __nanosleep(100);
    }
    __threadfence_block();
    order[rank] = order[rank + 1] + 1;
  } else {
    order[rank] = 0;
  }
  __threadfence_block();
  atomicExch(flags + rank, 1);
}

template <bool with_nanosleep>
void check_passing_down(unsigned threads) {
  CAPTURE(threads);
  checked::device_buffer<int> flags(std::vector<int>(threads, 0));
  testing::poisoned_output<int> order(threads);
  pass_down<with_nanosleep><<<1, threads>>>(flags.data(), order.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> expected;
  for (unsigned rank = 0; rank < threads; ++rank) {
    expected.push_back(static_cast<int>(threads - 1 - rank));
  }
  REQUIRE(order.to_host() == expected);
}

// Thread 0 waits while all others are at a barrier that it will come to as well.
__global__ void wait_before_barrier(int* flag, int* results) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
  if (threadIdx.x == blockDim.x - 1) atomicExch(flag, 1);
  results[threadIdx.x] = __syncthreads_count(1);
}

// ---- one launch after the other

__global__ void multiply_and_add(long long* value, long long summand) {
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *value = (*value * 3 + summand) % 1000003;
}

__global__ void do_nothing() {}

// ---- how many blocks it takes

// The quotient of the two, rounded up, computed on the device.
template <class Dividend, class Divisor>
__global__ void divide_and_round_up(const Dividend* dividends, const Divisor* divisors,
                                    unsigned long long* quotients) {
  quotients[threadIdx.x] = cuda::ceil_div(dividends[threadIdx.x], divisors[threadIdx.x]);
}

template <class Dividend, class Divisor>
void check_ceil_div() {
  std::vector<Dividend> dividends;
  std::vector<Divisor> divisors;
  std::vector<unsigned long long> expected;
  for (const Dividend dividend :
       {Dividend{0}, Dividend{1}, Dividend{31}, Dividend{32}, Dividend{33}, Dividend{10000},
        std::numeric_limits<Dividend>::max()}) {
    for (const Divisor divisor :
         {Divisor{1}, Divisor{2}, Divisor{32}, Divisor{255}, std::numeric_limits<Divisor>::max()}) {
      dividends.push_back(dividend);
      divisors.push_back(divisor);
      const auto wide = static_cast<unsigned long long>(dividend);
      expected.push_back(wide / static_cast<unsigned long long>(divisor) +
                         (wide % static_cast<unsigned long long>(divisor) != 0));
      REQUIRE(static_cast<unsigned long long>(cuda::ceil_div(dividend, divisor)) ==
              expected.back());
    }
  }
  const checked::device_buffer<Dividend> device_dividends(dividends);
  const checked::device_buffer<Divisor> device_divisors(divisors);
  testing::poisoned_output<unsigned long long> quotients(expected.size());
  divide_and_round_up<<<1, static_cast<unsigned>(expected.size())>>>(
      device_dividends.data(), device_divisors.data(), quotients.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(quotients.to_host() == expected);
}

}  // namespace

TEST_CASE("grids of one, two and three dimensions visit each thread exactly once") {
  check_visits(1, 1);
  check_visits(7, 33);
  check_visits(1000, 96);
  check_visits(3, 1024);
  check_visits({5, 3, 1}, {8, 4, 1});
  check_visits({1, 9, 1}, {1, 7, 1});
  check_visits({2, 3, 4}, {5, 6, 7});
  check_visits({1, 1, 11}, {1, 1, 64});
  check_visits({17, 1, 2}, {3, 1, 5});
}

TEST_CASE("grids with more blocks than 16 bits count, and the longest in y and z") {
  for (const dim3 blocks : {dim3(70000, 1, 1), dim3(1, 65535, 1), dim3(1, 1, 65535)}) {
    CAPTURE(blocks.x, blocks.y, blocks.z);
    checked::device_buffer<unsigned long long> counter(std::vector<unsigned long long>{0});
    checked::device_buffer<unsigned> greatest(std::vector<unsigned>{0});
    count_blocks<<<blocks, 2>>>(counter.data(), greatest.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(counter.to_host()[0] == std::size_t{blocks.x} * blocks.y * blocks.z);
    REQUIRE(greatest.to_host()[0] == blocks.x - 1);
  }
}

TEST_CASE("one block on each multiprocessor: all of them run side by side") {
  const auto blocks = static_cast<unsigned>(checked::describe_device().multiprocessors);
  checked::device_buffer<unsigned> arrived(std::vector<unsigned>{0});
  checked::device_buffer<unsigned> met(std::vector<unsigned>{0});
  for (unsigned run = 1; run <= 5; ++run) {
    arrived.fill_bytes(0);
    meet_all_blocks<<<blocks, 64>>>(arrived.data(), met.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(arrived.to_host() == std::vector<unsigned>{blocks});
    REQUIRE(met.to_host() == std::vector<unsigned>{run * blocks});
  }
}

TEST_CASE("a block waits for blocks that are not resident yet, while another place is free") {
  const auto places = static_cast<unsigned>(checked::describe_device().multiprocessors);
  if (places < 2) SKIP("the device has one multiprocessor only");
  checked::device_buffer<unsigned> arrived(std::vector<unsigned>{0});
  const unsigned blocks = 40 * places;  // more than any multiprocessor holds
  wait_for_all_others<<<blocks, 1>>>(arrived.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(arrived.to_host() == std::vector<unsigned>{blocks - 1});
}

TEST_CASE("two resident blocks wait for each other by atomics") {
  if (checked::describe_device().multiprocessors < 2)
    SKIP("the device has one multiprocessor only");
  check_ping_pong<false>();
}

TEST_CASE("two resident blocks wait for each other by reading a volatile variable") {
  if (checked::describe_device().multiprocessors < 2)
    SKIP("the device has one multiprocessor only");
  check_ping_pong<true>();
}

TEST_CASE("a chain of blocks, each waiting for the one that started before it") {
  constexpr unsigned blocks = 700, threads = 64;
  checked::device_buffer<unsigned> tickets(std::vector<unsigned>{0});
  testing::poisoned_output<unsigned long long> published(blocks);
  checked::device_buffer<unsigned> ready(std::vector<unsigned>(blocks, 0));
  add_in_a_chain<<<blocks, threads>>>(tickets.data(), published.data(), ready.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned long long> expected;
  unsigned long long sum = 0;
  for (unsigned ticket = 0; ticket < blocks; ++ticket) {
    sum += threads / 2 + ticket;
    expected.push_back(sum);
  }
  REQUIRE(published.to_host() == expected);
}

TEST_CASE("threads of one block wait for each other by atomics") {
  for (const unsigned threads : {2u, 32u, 33u, 200u}) check_passing_down<false>(threads);
}

TEST_CASE("__nanosleep lets other threads of the block go on") {
  for (const unsigned threads : {2u, 40u}) check_passing_down<true>(threads);
}

TEST_CASE("a thread that waits by atomics still comes to the block's barrier") {
  for (const unsigned threads : {2u, 64u, 1024u}) {
    checked::device_buffer<int> flag(std::vector<int>{0});
    testing::poisoned_output<int> results(threads);
    wait_before_barrier<<<1, threads>>>(flag.data(), results.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(results.to_host() == std::vector<int>(threads, static_cast<int>(threads)));
  }
}

TEST_CASE("launches of one stream run one after the other") {
  checked::device_buffer<long long> value(std::vector<long long>{1});
  long long expected = 1;
  for (long long i = 0; i < 500; ++i) {
    multiply_and_add<<<3, 32>>>(value.data(), i);
    do_nothing<<<2, 1>>>();
    expected = (expected * 3 + i) % 1000003;
  }
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(value.to_host() == std::vector<long long>{expected});
}

TEST_CASE("cuda::ceil_div: the blocks that it takes to cover all elements") {
  check_ceil_div<int, int>();
  check_ceil_div<unsigned, unsigned>();
  check_ceil_div<std::size_t, unsigned>();
  check_ceil_div<std::int64_t, int>();
  check_ceil_div<short, short>();
}

// ---- Kernels that only compute, of which the CPU backend runs a row of threads in one call: every
// thread once, with its own index, its own parameters and its own return.

namespace {

// Adds, so that a thread that ran twice shows.
__global__ void add_rank(unsigned* out, unsigned total) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned rank = block * (blockDim.x * blockDim.y * blockDim.z) + in_block;
  if (rank >= total) return;
  out[rank] += rank + 1;
}

__global__ void add_digits(unsigned* out, const unsigned n) {
  const unsigned rank = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 0; i < 10; ++i) {
    if (rank >= n) return;
    if (i == rank % 10) return;
    out[rank] += 1;
  }
}

template <class Kernel>
std::vector<unsigned> values_after(Kernel kernel, dim3 blocks, dim3 threads, unsigned size) {
  checked::device_buffer<unsigned> out(size);
  out.fill_bytes(0);
  kernel<<<blocks, threads>>>(out.data(), size);
  CUDA_CHECK(cudaGetLastError());
  return out.to_host();
}

// ---- Kernels that use atomics without a call

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> turn;

// Thread 0 waits for the last thread of its row.
__global__ void wait_for_last(unsigned* out) {
  out[threadIdx.x] += 1;
  if (threadIdx.x == 0) {
    for (; turn != 1;) {
    }
  }
  if (threadIdx.x == blockDim.x - 1) turn = 1;
  out[threadIdx.x] += 1;
}

// So many loads that others get their turn in between.
__global__ void look_often(unsigned* out) {
  unsigned sum = 0;
  for (int i = 0; i < 100; ++i) sum += turn;
  out[threadIdx.y * blockDim.x + threadIdx.x] += 1 + 0 * sum;
}

}  // namespace

TEST_CASE("each thread of each row runs once") {
  const struct {
    dim3 blocks, threads;
  } shapes[] = {{1, 1},         {3, 33},           {1000, 7},      {70000, 1},
                {5, {1, 8, 1}}, {4, {16, 16, 1}},  {2, {3, 5, 7}}, {{9, 3, 2}, {8, 2, 2}},
                {2048, 256},    {{1, 65, 1}, 1024}};
  for (const auto& [blocks, threads] : shapes) {
    const unsigned size = blocks.x * blocks.y * blocks.z * threads.x * threads.y * threads.z;
    for (const unsigned total : {size, size - 1, size / 2 + 1}) {
      CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z, total);
      const std::vector<unsigned> got = values_after(add_rank, blocks, threads, total);
      std::size_t wrong = 0;
      for (unsigned rank = 0; rank < total; ++rank) wrong += got[rank] != rank + 1;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a thread that returns from a loop ends no other") {
  const std::vector<unsigned> got = values_after(add_digits, 40, 128, 5000);
  std::size_t wrong = 0;
  for (unsigned rank = 0; rank < got.size(); ++rank) wrong += got[rank] != rank % 10;
  CHECK(wrong == 0);
}

TEST_CASE("a thread waits for another one of its row") {
  checked::device_buffer<unsigned> out(64);
  out.fill_bytes(0);
  wait_for_last<<<1, 64>>>(out.data());
  CUDA_CHECK(cudaGetLastError());
  CHECK(out.to_host() == std::vector<unsigned>(64, 2));
}

TEST_CASE("a thread that gives its turn to others runs once, and so do they") {
  for (const dim3 threads : {dim3(64), dim3(8, 4), dim3(1, 5)}) {
    checked::device_buffer<unsigned> out(threads.x * threads.y);
    out.fill_bytes(0);
    look_often<<<1, threads>>>(out.data());
    CUDA_CHECK(cudaGetLastError());
    CHECK(out.to_host() == std::vector<unsigned>(threads.x * threads.y, 1));
  }
}
