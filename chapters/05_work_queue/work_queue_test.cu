// SPDX-License-Identifier: MIT
// Every way to hand out items hands out each exactly once.
#define CATCH_CONFIG_ENABLE_OPTIONAL_STRINGMAKER  // A failed check prints what is wrong.
#include "05_work_queue/work_queue.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "05_work_queue/fast_hand_out.cuh"
#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/process_items.cuh"
#include "05_work_queue/work_queue_memory.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/trace.cuh"
#include "lab/work_trace.hpp"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

// An item that is just its number.
struct numbered {
  std::uint32_t value;

  __host__ __device__ static constexpr numbered none() { return {~0U}; }
  __host__ __device__ friend constexpr bool operator==(numbered x, numbered y) {
    return x.value == y.value;
  }
};

enum class way {
  contiguous_ranges,
  grid_stride,
  one_block_each,
  by_queue,
  by_queue_first_static,
  by_queue_in_chunks,
  by_queue_ahead,
  by_queue_each_warp,
};
constexpr way all_ways[] = {
    way::contiguous_ranges, way::grid_stride,           way::one_block_each,
    way::by_queue,          way::by_queue_first_static, way::by_queue_in_chunks,
    way::by_queue_ahead,    way::by_queue_each_warp,
};

// What an item's word holds once exactly one team, with all its threads, has worked on it. Rank 0
// adds what is missing for the other threads' ones: a thread that stays away leaves it smaller, a
// second team makes it larger.
constexpr std::uint32_t claimed_once = 1 << 16;

struct count_claims {
  std::uint32_t* claims;

  __device__ void begin() const {}
  __device__ void operator()(numbered item, const course::team& workers) const {
    atomicAdd(claims + item.value, workers.rank == 0 ? claimed_once - (workers.size - 1) : 1);
  }
  __device__ void end() const {}
  __device__ std::size_t number(numbered item) const { return item.value; }
};

// The same for many items: only rank 0 counts.
struct count_leaders {
  std::uint32_t* claims;

  __device__ void begin() const {}
  __device__ void operator()(numbered item, const course::team& workers) const {
    if (workers.rank == 0) atomicAdd(claims + item.value, claimed_once);
  }
  __device__ void end() const {}
};

std::vector<numbered> numbered_items(std::size_t count) {
  std::vector<numbered> items(count);
  for (std::size_t i = 0; i < count; ++i) items[i].value = static_cast<std::uint32_t>(i);
  return items;
}

// Items 0 to count - 1, as an array and as a queue that the host has filled.
struct items_on_device {
  explicit items_on_device(std::size_t item_count)
      : count(item_count), array(numbered_items(count)), memory(numbered_items(count)) {}

  std::size_t count;
  lab::device_buffer<numbered> array;
  course::work_queue_memory<numbered> memory;
};

template <class Work>
void launch(way which, items_on_device& items, const Work& work, unsigned blocks,
            unsigned threads) {
  const numbered* const array = items.array.data();
  const course::work_queue<numbered> queue = items.memory.queue();
  switch (which) {
    case way::contiguous_ranges:
      return course::launch_processing(course::contiguous_ranges<numbered>{array, items.count},
                                       work, blocks, threads);
    case way::grid_stride:
      return course::launch_processing(course::grid_stride<numbered>{array, items.count}, work,
                                       blocks, threads);
    case way::one_block_each:
      return course::launch_processing(
          course::one_block_each<numbered>{array, items.count}, work,
          static_cast<unsigned>(std::max<std::size_t>(items.count, blocks)), threads);
    case way::by_queue:
      return course::launch_processing(course::by_queue<numbered>{queue}, work, blocks, threads);
    case way::by_queue_first_static:
      return course::launch_processing(course::by_queue_first_static<numbered>{queue}, work, blocks,
                                       threads);
    case way::by_queue_in_chunks:
      return course::launch_processing(course::by_queue_in_chunks<numbered>{queue, 5}, work, blocks,
                                       threads);
    case way::by_queue_ahead:
      return course::launch_processing(course::by_queue_ahead<numbered>{queue}, work, blocks,
                                       threads);
    case way::by_queue_each_warp:
      return course::launch_processing(course::by_queue_each_warp<numbered>{queue}, work, blocks,
                                       threads);
  }
}

// The first item that was not claimed exactly once, in a launch and in those after a reset.
template <class Work = count_claims>
std::optional<std::string> wrong_claims(way which, std::size_t count, unsigned blocks,
                                        unsigned threads, int launches = 2) {
  items_on_device items(count);
  testing::poisoned_output<std::uint32_t> claims(count);
  for (int run = 0; run < launches; ++run) {
    if (count > 0) CUDA_CHECK(cudaMemset(claims.data(), 0, count * sizeof(std::uint32_t)));
    launch(which, items, Work{claims.data()}, blocks, threads);
    const std::vector<std::uint32_t> got = claims.to_host();
    for (std::size_t i = 0; i < count; ++i) {
      if (got[i] == claimed_once) continue;
      return "item " + std::to_string(i) + " has " + std::to_string(got[i]) + " instead of " +
             std::to_string(claimed_once);
    }
    if (auto wrong = claims.overrun()) return wrong;
    items.memory.reset();
  }
  return std::nullopt;
}

}  // namespace

CATCH_REGISTER_ENUM(way, way::contiguous_ranges, way::grid_stride, way::one_block_each,
                    way::by_queue, way::by_queue_first_static, way::by_queue_in_chunks,
                    way::by_queue_ahead, way::by_queue_each_warp)

TEST_CASE("each item is claimed once, whatever the number of items and blocks") {
  const std::size_t most = testing::brief_tests() ? 500 : 2500;
  const std::size_t count = GENERATE_COPY(as<std::size_t>{}, 0, 1, 2, 5, 31, 100, most);
  CAPTURE(count);
  for (const way which : all_ways) {
    for (const unsigned blocks :
         testing::brief_tests() ? std::vector<unsigned>{1, 3, 70}
                                : testing::all_or_few({1, 2, 3, 64, 1000, 10'000}, {1, 3, 200})) {
      CAPTURE(which, blocks);
      REQUIRE(wrong_claims(which, count, blocks, 32) == std::nullopt);
    }
  }
}

TEST_CASE("each item is claimed once by all threads of blocks of every size") {
  for (const unsigned threads : testing::every_block_size()) {
    for (const way which : all_ways) {
      CAPTURE(which, threads);
      REQUIRE(wrong_claims(which, 40, 6, threads) == std::nullopt);
    }
  }
}

TEST_CASE("each of millions of items is claimed once") {
  const std::size_t count = testing::brief_tests()    ? 5'000
                            : testing::few_launches() ? 1'000'000
                                                      : 10'000'000;
  for (const way which : all_ways) {
    CAPTURE(which);
    REQUIRE(wrong_claims<count_leaders>(which, count, 500, 32, 1) == std::nullopt);
  }
}

namespace {

// Fetches until the queue is empty, and then some more; counts the items and the nones.
__global__ void fetch_beyond_the_end(course::work_queue<numbered> queue, unsigned further,
                                     unsigned* items, unsigned* nones) {
  while (!(queue.fetch() == numbered::none())) {
    if (threadIdx.x == 0) atomicAdd(items, 1);
  }
  for (unsigned i = 0; i < further; ++i) {
    if (queue.fetch() == numbered::none()) atomicAdd(nones, 1);
  }
}

}  // namespace

TEST_CASE("an empty queue stays empty until it is reset") {
  constexpr unsigned blocks = 7;
  constexpr unsigned threads = 65;
  constexpr unsigned further = 4;
  course::work_queue_memory<numbered> memory(numbered_items(20));
  lab::device_buffer<unsigned> counts(2);
  // 20 items, then a launch without a reset, then one after it.
  for (const unsigned expected : {20U, 0U, 20U}) {
    counts.fill_bytes(0);
    fetch_beyond_the_end<<<blocks, threads>>>(memory.queue(), further, counts.data(),
                                              counts.data() + 1);
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(counts.to_host() == std::vector<unsigned>{expected, blocks * threads * further});
    if (expected == 0) memory.reset();
  }
}

namespace {

// Two items at once, with nothing between the two calls. Each thread notes both.
__global__ void fetch_pairs(course::work_queue<numbered> queue, uint2* pairs, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    const numbered first = queue.fetch();
    const numbered second = queue.fetch();
    pairs[(blockIdx.x * rounds + round) * blockDim.x + threadIdx.x] = {first.value, second.value};
  }
}

}  // namespace

TEST_CASE("two fetches in a row need no barrier between them") {
  constexpr unsigned blocks = 9;
  constexpr unsigned threads = 96;
  constexpr unsigned rounds = 20;
  constexpr unsigned count = 2 * blocks * rounds;
  course::work_queue_memory<numbered> memory(numbered_items(count));
  testing::poisoned_output<uint2> pairs(blocks * rounds * threads);
  fetch_pairs<<<blocks, threads>>>(memory.queue(), pairs.data(), rounds);
  CUDA_CHECK(cudaGetLastError());
  const std::vector<uint2> got = pairs.to_host();
  std::vector<unsigned> claims(count, 0);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const uint2 leader = got[i / threads * threads];
    CAPTURE(i);
    REQUIRE(got[i].x == leader.x);
    REQUIRE(got[i].y == leader.y);
    if (i % threads != 0) continue;
    ++claims.at(leader.x);
    ++claims.at(leader.y);
  }
  REQUIRE(claims == std::vector<unsigned>(count, 1));
}

namespace {

__global__ void claim_in_any_shape(course::work_queue<numbered> queue, unsigned* claims) {
  for (numbered item = queue.fetch(); !(item == numbered::none()); item = queue.fetch()) {
    atomicAdd(claims + item.value, 1);
  }
}

}  // namespace

TEST_CASE("a fetch by a block of two or three dimensions takes one item") {
  for (const dim3 threads : {dim3(8, 8), dim3(4, 4, 4), dim3(1, 1, 64), dim3(1, 64)}) {
    CAPTURE(threads.x, threads.y, threads.z);
    course::work_queue_memory<numbered> memory(numbered_items(50));
    lab::device_buffer<unsigned> claims(std::vector<unsigned>(50, 0));
    claim_in_any_shape<<<3, threads>>>(memory.queue(), claims.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(claims.to_host() == std::vector<unsigned>(50, 64));
  }
}

namespace {

__global__ void claim_by_warps(course::work_queue<numbered> queue, unsigned* claims) {
  for (numbered item = queue.fetch_by_warp(); !(item == numbered::none());
       item = queue.fetch_by_warp()) {
    atomicAdd(claims + item.value, 1);
  }
}

}  // namespace

TEST_CASE("a fetch by the warps of a block of any shape takes an item for each warp") {
  for (const dim3 threads : {dim3(64), dim3(8, 8), dim3(4, 4, 4), dim3(1, 1, 64), dim3(1, 64)}) {
    CAPTURE(threads.x, threads.y, threads.z);
    course::work_queue_memory<numbered> memory(numbered_items(50));
    lab::device_buffer<unsigned> claims(std::vector<unsigned>(50, 0));
    claim_by_warps<<<3, threads>>>(memory.queue(), claims.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(claims.to_host() == std::vector<unsigned>(50, 32));
  }
}

namespace {

// Appends the numbers from `first` on, `each` of them a thread.
__global__ void append_numbers(course::work_queue<numbered> queue, std::uint32_t first,
                               std::uint32_t each) {
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (std::uint32_t i = 0; i < each; ++i) queue.append({first + thread * each + i});
}

}  // namespace

TEST_CASE("a queue that another kernel fills has each item once") {
  // Enough for the appends of different blocks to meet.
  const unsigned blocks = testing::brief_tests() ? 20 : 400;
  const std::uint32_t each = testing::brief_tests() ? 2 : 10;
  constexpr unsigned threads = 64;
  const unsigned count = 2 * blocks * threads * each;
  items_on_device items(count);
  lab::device_buffer<std::uint32_t> claims(count);
  for (int run = 0; run < 2; ++run) {
    items.memory.clear();
    REQUIRE(items.memory.size() == 0);
    append_numbers<<<blocks, threads>>>(items.memory.queue(), 0, each);
    append_numbers<<<blocks, threads>>>(items.memory.queue(), count / 2, each);
    CUDA_CHECK(cudaGetLastError());
    claims.fill_bytes(0);
    launch(way::by_queue, items, count_claims{claims.data()}, 30, 64);
    REQUIRE(claims.to_host() == std::vector<std::uint32_t>(count, claimed_once));
    REQUIRE(items.memory.size() == count);
  }
}

TEST_CASE("what does not fit into a queue is dropped, and said") {
  constexpr unsigned room = 100;
  course::work_queue_memory<numbered> memory(room);
  append_numbers<<<5, 32>>>(memory.queue(), 0, 1);
  CUDA_CHECK(cudaGetLastError());
  CHECK_THROWS_AS(memory.size(), std::length_error);
  // And a kernel that fetches all the same gets `room` items, and nothing from beyond.
  lab::device_buffer<unsigned> counts(std::vector<unsigned>{0, 0});
  fetch_beyond_the_end<<<2, 32>>>(memory.queue(), 1, counts.data(), counts.data() + 1);
  CUDA_CHECK(cudaGetLastError());
  CHECK(counts.to_host() == std::vector<unsigned>{room, 64});
}

namespace {

// Fetches until the queue is empty, but not before `delay_ns` have gone by: what follows in the
// stream has to wait, and what another stream does comes first.
__global__ void fetch_late(course::work_queue<numbered> queue, std::uint64_t delay_ns,
                           unsigned* items) {
  const std::uint64_t begin_ns = lab::device_nanoseconds();
  while (lab::device_nanoseconds() - begin_ns < delay_ns) {
  }
  while (!(queue.fetch() == numbered::none())) {
    if (threadIdx.x == 0) atomicAdd(items, 1);
  }
}

}  // namespace

TEST_CASE("a queue is reset and cleared in the order of the stream") {
  constexpr unsigned room = 100;
  const std::uint64_t delay_ns = testing::brief_tests() ? 100'000 : 1'000'000;
  // A stream that does not wait for the default one.
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  lab::device_buffer<unsigned> fetched(std::vector<unsigned>(3, 0));
  CUDA_CHECK(cudaDeviceSynchronize());
  course::work_queue_memory<numbered> memory(numbered_items(room));
  const auto fetch = [&](unsigned launch) {
    fetch_late<<<7, 64, 0, stream>>>(memory.queue(), delay_ns, fetched.data() + launch);
    CUDA_CHECK(cudaGetLastError());
  };
  fetch(0);
  memory.reset(stream);
  fetch(1);
  memory.clear(stream);
  append_numbers<<<1, 32, 0, stream>>>(memory.queue(), 0, 1);
  CUDA_CHECK(cudaGetLastError());
  fetch(2);
  CHECK(memory.size(stream) == 32);
  CHECK(fetched.to_host() == std::vector<unsigned>{room, room, 32});
  CUDA_CHECK(cudaStreamDestroy(stream));
}

namespace {

// Item 0 takes until all but `held` of the others are done.
struct wait_for_the_others {
  unsigned* done;
  unsigned enough;

  __device__ void begin() const {}
  __device__ void operator()(numbered item, const course::team& workers) const {
    if (workers.rank != 0) return;
    if (item.value == 0) {
      while (atomicAdd(done, 0) < enough) {
      }
    }
    atomicAdd(done, 1);
  }
  __device__ void end() const {}
};

}  // namespace

TEST_CASE("while one block works on a long item, the others take all the rest") {
  if (lab::describe_device().multiprocessors < 2) SKIP("two blocks must be resident");
  constexpr unsigned count = 300;
  items_on_device items(count);
  lab::device_buffer<unsigned> done(1);
  for (const way which :
       {way::by_queue, way::by_queue_first_static, way::by_queue_each_warp, way::by_queue_ahead}) {
    CAPTURE(which);
    done.fill_bytes(0);
    // With a static division of the items this would wait for ever: half of them are block 0's.
    // by_queue_ahead alone holds an item back, the next one of the block that waits.
    const unsigned held = which == way::by_queue_ahead ? 1 : 0;
    launch(which, items, wait_for_the_others{done.data(), count - 1 - held}, 2, 32);
    REQUIRE(done.to_host() == std::vector<unsigned>{count});
    items.memory.reset();
  }
}

TEST_CASE("a trace has one event for each item") {
  constexpr unsigned count = 500;
  constexpr unsigned blocks = 8;
  items_on_device items(count);
  const auto multiprocessors = static_cast<unsigned>(lab::describe_device().multiprocessors);
  for (const way which : all_ways) {
    CAPTURE(which);
    lab::device_buffer<std::uint32_t> claims(std::vector<std::uint32_t>(count, 0));
    lab::trace_memory memory(count);
    launch(which, items,
           course::traced<count_claims>{.work = {claims.data()}, .recorder = memory.recorder()},
           blocks, 64);
    items.memory.reset();
    REQUIRE(claims.to_host() == std::vector<std::uint32_t>(count, claimed_once));
    const lab::work_trace run = {
        .variant = "", .events = memory.events(), .multiprocessors = multiprocessors, .slots = 1};
    REQUIRE(lab::recorded_items(run).size() == count);
    for (const lab::trace_event& event : run.events) {
      REQUIRE(event.begin_ns <= event.end_ns);
      REQUIRE(event.multiprocessor < multiprocessors);
      REQUIRE(event.block < (which == way::one_block_each ? count : blocks));
    }
  }
}

namespace {

struct initialised_item {
  std::uint32_t value = 0;

  __host__ __device__ static initialised_item none() { return {}; }
  bool operator==(const initialised_item&) const = default;
};
struct item_without_none {
  int value;
  bool operator==(const item_without_none&) const = default;
};
struct sixteen_bytes {
  double weight;
  const int* place;

  __host__ __device__ static sixteen_bytes none() { return {-1, nullptr}; }
  __host__ __device__ friend bool operator==(sixteen_bytes x, sixteen_bytes y) {
    return x.weight == y.weight;
  }
};

__global__ void add_weights(course::work_queue<sixteen_bytes> queue, unsigned* sum) {
  for (sixteen_bytes item = queue.fetch(); !(item == sixteen_bytes::none()); item = queue.fetch()) {
    if (threadIdx.x == blockDim.x - 1) atomicAdd(sum, static_cast<unsigned>(item.weight));
  }
}

}  // namespace

TEST_CASE("an item is any trivial type with a none() and an ==") {
  STATIC_REQUIRE(course::work_item<numbered>);
  STATIC_REQUIRE(course::work_item<sixteen_bytes>);
  STATIC_REQUIRE_FALSE(course::work_item<initialised_item>);
  CHECK(initialised_item::none() == initialised_item{});  // For its constructor alone.
  STATIC_REQUIRE_FALSE(course::work_item<item_without_none>);
  STATIC_REQUIRE_FALSE(course::work_item<std::string>);

  std::vector<sixteen_bytes> items;
  for (int i = 1; i <= 100; ++i) items.push_back({static_cast<double>(i), nullptr});
  course::work_queue_memory<sixteen_bytes> memory(items);
  lab::device_buffer<unsigned> sum(std::vector<unsigned>{0});
  add_weights<<<4, 96>>>(memory.queue(), sum.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(sum.to_host() == std::vector<unsigned>{5050});
}
