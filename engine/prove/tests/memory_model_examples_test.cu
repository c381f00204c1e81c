// SPDX-License-Identifier: MIT
// Runs the examples of docs/memory-model.md that are right, and checks what each must deliver.
// A mistake in the others would almost never show here: the reference model judges them.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <numeric>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "examples.cuh"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using memory_model::message;

std::vector<int> zeros(std::size_t size) { return std::vector<int>(size, 0); }

std::vector<int> messages(int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(message(i));
  return all;
}

std::vector<int> messages_in_reverse(int count) {
  const std::vector<int> all = messages(count);
  return {all.rbegin(), all.rend()};
}

// Blocks that wait for each other must be resident at the same time.
void require_two_resident_blocks() {
  if (checked::describe_device().multiprocessors < 2) {
    SKIP("two blocks that wait for each other need two multiprocessors");
  }
}

template <class Channel>
void check_channel() {
  constexpr int count = 10'000;
  require_two_resident_blocks();
  checked::device_buffer<int> data(zeros(count)), flags(zeros(count));
  testing::poisoned_output<int> received(count);
  memory_model::pass_messages<Channel><<<2, 1>>>(data.data(), flags.data(), received.data(), count);
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(received.to_host() == messages(count));
}

}  // namespace

TEST_CASE("a message is delivered by a release and an acquire") {
  check_channel<memory_model::release_and_acquire>();
}

TEST_CASE("a message is delivered by fences around relaxed atomics") {
  check_channel<memory_model::fences>();
  check_channel<memory_model::classic_fences>();
}

TEST_CASE("a message is delivered by fences around volatile accesses") {
  check_channel<memory_model::volatile_and_fences>();
}

TEST_CASE("atomics of wide enough scope lose no increment") {
  constexpr int blocks = 2000, threads = 256;
  checked::device_buffer<int> counter(zeros(1));
  memory_model::count<<<blocks, threads>>>(counter.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(counter.to_host() == std::vector<int>{blocks * threads});

  checked::device_buffer<int> counters(zeros(blocks));
  memory_model::count_per_block<<<blocks, threads>>>(counters.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(counters.to_host() == std::vector<int>(blocks, threads));
}

TEST_CASE("between sc fences, two blocks never miss each other") {
  const std::size_t rounds = testing::brief_tests() ? 20'000 : 200'000;
  require_two_resident_blocks();
  checked::device_buffer<int> raised(zeros(2 * rounds)), arrived(zeros(1));
  testing::poisoned_output<int> saw(2 * rounds);
  memory_model::raise_and_look<<<2, 1>>>(raised.data(), saw.data(), arrived.data(),
                                         static_cast<int>(rounds));
  CUDA_CHECK(cudaGetLastError());
  const std::vector<int> seen = saw.to_host();
  int missed = 0, strange = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const int first = seen[round], second = seen[rounds + round];
    missed += first == 0 && second == 0;
    strange += (first != 0 && first != 1) || (second != 0 && second != 1);
  }
  REQUIRE(missed == 0);
  REQUIRE(strange == 0);
}

TEST_CASE("one release after a barrier publishes the whole block") {
  constexpr int rounds = 300;
  require_two_resident_blocks();
  for (const int threads : {1, 32, 33, 256, 1024}) {
    CAPTURE(threads);
    const std::size_t size = static_cast<std::size_t>(threads) * rounds;
    checked::device_buffer<int> data(zeros(size)), flags(zeros(rounds));
    testing::poisoned_output<int> received(size);
    memory_model::publish_blocks<<<2, threads>>>(data.data(), flags.data(), received.data(),
                                                 rounds);
    CUDA_CHECK(cudaGetLastError());
    std::vector<int> expected;
    for (int round = 0; round < rounds; ++round) {
      for (int thread = threads - 1; thread >= 0; --thread) {
        expected.push_back(message(round + thread));
      }
    }
    REQUIRE(received.to_host() == expected);
  }
}

TEST_CASE("__syncwarp orders memory, and a shuffle hands on its own value") {
  std::vector<int> expected = messages(32);
  expected.push_back(expected.front());
  expected.erase(expected.begin());
  testing::poisoned_output<int> received(32);
  memory_model::rotate_through_memory<<<1, 32>>>(received.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(received.to_host() == expected);
  received.poison();
  memory_model::rotate_by_a_shuffle<<<1, 32>>>(received.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(received.to_host() == expected);
}

TEST_CASE("a kernel sees what all blocks of the one before it have written") {
  constexpr int blocks = 200, threads = 128, count = blocks * threads;
  checked::device_buffer<int> data(zeros(count));
  testing::poisoned_output<int> received(count);
  memory_model::write_messages<<<blocks, threads>>>(data.data());
  CUDA_CHECK(cudaGetLastError());
  memory_model::read_messages<<<blocks, threads>>>(data.data(), received.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(received.to_host() == messages_in_reverse(count));
}

TEST_CASE("the last block to arrive resets the counter for the next launch") {
  constexpr unsigned blocks = 50, launches = 20;
  checked::device_buffer<unsigned> counter(std::vector<unsigned>{0});
  checked::device_buffer<unsigned> last_blocks(std::vector<unsigned>(blocks, 0));
  for (unsigned launch = 1; launch <= launches; ++launch) {
    memory_model::arrive_and_reset<<<blocks, 32>>>(counter.data(), last_blocks.data());
    CUDA_CHECK(cudaGetLastError());
    const std::vector<unsigned> lasts = last_blocks.to_host();
    REQUIRE(std::accumulate(lasts.begin(), lasts.end(), 0U) == launch);
    REQUIRE(counter.to_host() == std::vector<unsigned>{0});
  }
}
