// SPDX-License-Identifier: MIT
#include "07_grid_barrier/grid_barrier.cuh"

#include <algorithm>
#include <catch2/catch_all.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "07_grid_barrier/barrier_checks.cuh"
#include "07_grid_barrier/cooperative_launch.cuh"
#include "07_grid_barrier/fast_grid_barrier.cuh"
#include "07_grid_barrier/fast_wave.cuh"
#include "07_grid_barrier/wave.cuh"
#include "07_grid_barrier/wave_reference.hpp"
#include "lab/check.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/resident_blocks.cuh"
#include "testing/brief_tests.hpp"
#include "testing/poisoned_output.cuh"

namespace {

using course::backoff_barrier;
using course::cooperative_groups_barrier;
using course::generation_barrier;
using course::one_word_barrier;

unsigned volume(dim3 size) { return size.x * size.y * size.z; }

// The largest grid of `kernel` that can be launched cooperatively, and at most `most`.
template <class Kernel>
unsigned fitting_blocks(Kernel kernel, unsigned threads, unsigned most) {
  return static_cast<unsigned>(std::min<std::size_t>(most, lab::resident_blocks(kernel, threads)));
}

// Launches look_behind_barriers; no thread may have found a wrong word.
template <class Barrier>
void check_launch(dim3 blocks, dim3 threads, unsigned rounds, typename Barrier::word* words) {
  const std::size_t all = std::size_t{volume(blocks)} * volume(threads);
  testing::poisoned_output<unsigned> written(2 * all);
  testing::poisoned_output<unsigned> wrong(all);
  course::launch_cooperatively(course::look_behind_barriers<Barrier>, blocks, threads, 0, nullptr,
                               rounds, words, written.data(), wrong.data());
  REQUIRE(wrong.to_host() == std::vector<unsigned>(all, 0));
  REQUIRE(written.overrun() == std::nullopt);
}

#define EVERY_BARRIER \
  generation_barrier, one_word_barrier, backoff_barrier, cooperative_groups_barrier

}  // namespace

TEMPLATE_TEST_CASE("behind a barrier each thread sees what all threads wrote before it", "",
                   EVERY_BARRIER) {
  const unsigned rounds = testing::brief_tests() ? 1 : 20;
  for (const unsigned threads : testing::all_or_few({1, 31, 33, 256, 1024}, {1, 33})) {
    const unsigned most = fitting_blocks(course::look_behind_barriers<TestType>, threads, 2000);
    auto words = course::new_barrier<TestType>(most);
    for (const unsigned blocks : {1U, 2U, 3U, most / 2 + 1, most}) {
      if (blocks > most || (testing::brief_tests() && blocks > 5)) continue;
      CAPTURE(blocks, threads);
      check_launch<TestType>(blocks, threads, rounds, words.data());
    }
  }
}

TEMPLATE_TEST_CASE("a barrier needs no reset between launches of any size", "", EVERY_BARRIER) {
  constexpr unsigned threads = 32;
  const unsigned most = fitting_blocks(course::look_behind_barriers<TestType>, threads, 64);
  auto words = course::new_barrier<TestType>(most);
  const unsigned launches = testing::brief_tests() ? 8 : 200;
  for (unsigned launch = 0; launch < launches; ++launch) {
    const unsigned blocks = 1 + launch * 7 % most;
    CAPTURE(launch, blocks);
    check_launch<TestType>(blocks, threads, launch % 4, words.data());
  }
}

TEMPLATE_TEST_CASE("a barrier takes grids and blocks of one, two and three dimensions", "",
                   EVERY_BARRIER) {
  auto words = course::new_barrier<TestType>(64);
  for (const dim3 blocks : {dim3(4), dim3(1, 4), dim3(1, 1, 4), dim3(2, 2), dim3(2, 1, 2),
                            dim3(1, 2, 2), dim3(3, 2, 2)}) {
    for (const dim3 threads : {dim3(33), dim3(1, 33), dim3(1, 1, 33), dim3(3, 4, 5)}) {
      if (volume(blocks) >
          fitting_blocks(course::look_behind_barriers<TestType>, volume(threads), 64)) {
        continue;
      }
      CAPTURE(blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z);
      check_launch<TestType>(blocks, threads, 4, words.data());
    }
  }
}

namespace {

// Two barriers in a row: no block may pass the second one before all have passed the first one.
// The first thread of the last block comes late to the first barrier, in each round. early becomes
// the number of blocks that a block found not to have passed the first one.
template <class Barrier>
__global__ void pass_two_in_a_row(unsigned rounds, typename Barrier::word* words, unsigned* passed,
                                  unsigned* early) {
  Barrier barrier(words);
  const bool first = cooperative_groups::thread_block::thread_rank() == 0;
  unsigned count = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (blockIdx.x == round % gridDim.x) __nanosleep(2000);
    barrier();
    if (first) passed[blockIdx.x] = round;
    barrier();
    for (unsigned block = 0; block < gridDim.x; ++block) count += passed[block] != round;
    barrier();
  }
  if (first) early[blockIdx.x] = count;
}

}  // namespace

TEMPLATE_TEST_CASE("a fast block does not lap a slow one", "", EVERY_BARRIER) {
  constexpr unsigned threads = 64;
  const unsigned most = fitting_blocks(pass_two_in_a_row<TestType>, threads, 200);
  auto words = course::new_barrier<TestType>(most);
  for (const unsigned blocks : {2U, 4U, most}) {
    if (blocks > most) continue;
    CAPTURE(blocks);
    testing::poisoned_output<unsigned> passed(blocks);
    testing::poisoned_output<unsigned> early(blocks);
    course::launch_cooperatively(pass_two_in_a_row<TestType>, blocks, threads, 0, nullptr,
                                 testing::brief_tests() ? 4U : 50U, words.data(), passed.data(),
                                 early.data());
    REQUIRE(early.to_host() == std::vector<unsigned>(blocks, 0));
  }
}

TEST_CASE("the lesson's barrier counts generations, and leaves no arrival behind") {
  constexpr unsigned threads = 32;
  const unsigned blocks = fitting_blocks(course::pass_barriers<generation_barrier>, threads, 100);
  // The generation may be any number, also just before it wraps around.
  for (const unsigned start : {0U, 5U, 0xfffffffdU}) {
    CAPTURE(start);
    lab::device_buffer<course::grid_barrier_words> words(
        std::vector<course::grid_barrier_words>{{.arrived = 0, .generation = start}});
    testing::poisoned_output<unsigned> passed(std::size_t{blocks} * threads);
    course::launch_cooperatively(course::pass_barriers<generation_barrier>, blocks, threads, 0,
                                 nullptr, 7U, words.data(), passed.data());
    REQUIRE(passed.to_host() == std::vector<unsigned>(std::size_t{blocks} * threads, 7));
    const course::grid_barrier_words after = words.to_host().front();
    REQUIRE(after.arrived == 0);
    REQUIRE(after.generation == start + 7);
  }
}

TEMPLATE_TEST_CASE("a grid that is not resident is refused, and nothing runs", "", EVERY_BARRIER) {
  constexpr unsigned threads = 64;
  const auto kernel = course::pass_barriers<TestType>;
  const auto blocks = static_cast<unsigned>(lab::resident_blocks(kernel, threads)) + 1;
  auto words = course::new_barrier<TestType>(blocks);
  testing::poisoned_output<unsigned> passed(std::size_t{blocks} * threads);
  const std::vector<unsigned> untouched = passed.to_host();
  REQUIRE_THROWS_MATCHES(course::launch_cooperatively(kernel, blocks, threads, 0, nullptr, 1U,
                                                      words.data(), passed.data()),
                         lab::cuda_error,
                         Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring(
                             "cudaErrorCooperativeLaunchTooLarge")));
  REQUIRE(passed.to_host() == untouched);
  // It is not sticky: one block less is launched.
  course::launch_cooperatively(kernel, blocks - 1, threads, 0, nullptr, 1U, words.data(),
                               passed.data());
  CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("a device without cooperative launch is named in one sentence") {
  REQUIRE_NOTHROW(course::require_cooperative_launch(1));
  REQUIRE_THROWS_MATCHES(
      course::require_cooperative_launch(0), std::runtime_error,
      Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("no cooperative launch")));
}

TEST_CASE("two streams at once need a barrier each") {
  constexpr unsigned threads = 32;
  // Both grids have to fit at the same time, and on the CPU backend one runs after the other.
  const unsigned blocks = std::max(
      1U, fitting_blocks(course::look_behind_barriers<generation_barrier>, threads, 100) / 2);
  const std::size_t all = std::size_t{blocks} * threads;
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) {
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  std::vector<lab::device_buffer<course::grid_barrier_words>> words;
  std::vector<testing::poisoned_output<unsigned>> written;
  std::vector<testing::poisoned_output<unsigned>> wrong;
  for (int i = 0; i < 2; ++i) {
    words.push_back(course::new_barrier<generation_barrier>(blocks));
    written.emplace_back(2 * all);
    wrong.emplace_back(all);
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  for (int launch = 0; launch < (testing::brief_tests() ? 2 : 20); ++launch) {
    for (std::size_t i = 0; i < 2; ++i) {
      course::launch_cooperatively(course::look_behind_barriers<generation_barrier>, blocks,
                                   threads, 0, streams[i], 5U, words[i].data(), written[i].data(),
                                   wrong[i].data());
    }
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(wrong[i].to_host() == std::vector<unsigned>(all, 0));
    CUDA_CHECK(cudaStreamDestroy(streams[i]));
  }
}

// ---- the wave

namespace {

struct rectangle {
  unsigned width;
  unsigned height;
};

// Runs `launch`(now, before) on device memory, and compares every height with the reference.
template <class Launch>
void check_wave(rectangle of, unsigned steps, std::uint64_t seed, Launch launch) {
  const std::size_t cells = std::size_t{of.width} * of.height;
  const course::wave_heights start = course::random_wave(of.width, of.height, seed);
  const course::wave_heights expected = course::reference_wave(start, of.width, of.height, steps);
  lab::device_buffer<int> now(start.now);
  lab::device_buffer<int> before(start.before);
  launch(now.data(), before.data());
  if (steps % 2 != 0) std::swap(now, before);
  REQUIRE(now.to_host(0, cells) == expected.now);
  REQUIRE(before.to_host(0, cells) == expected.before);
}

std::vector<rectangle> rectangles() {
  if (testing::brief_tests()) return {{0, 0}, {1, 1}, {2, 5}, {3, 3}, {17, 9}, {70, 6}};
  return {{0, 0},  {1, 1}, {1, 7},  {2, 2},    {7, 2},    {3, 3},    {3, 40},
          {40, 3}, {4, 4}, {17, 9}, {255, 33}, {258, 70}, {300, 300}};
}

}  // namespace

TEST_CASE("the wave in one launch is the reference's, height by height") {
  const std::uint64_t seed = Catch::getSeed();
  auto words = course::new_barrier<generation_barrier>(1);
  for (const rectangle of : rectangles()) {
    for (const unsigned threads : testing::all_or_few({1, 64, 256}, {32})) {
      const unsigned most = fitting_blocks(course::wave_steps, threads, 1000);
      for (const unsigned blocks : {1U, 3U, most}) {
        for (const unsigned steps : {0U, 1U, 2U, 9U}) {
          if (blocks > most) continue;
          CAPTURE(seed, of.width, of.height, threads, blocks, steps);
          check_wave(of, steps, seed, [&](int* now, int* before) {
            course::wave_in_one_launch(now, before, of.width, of.height, steps, words.data(),
                                       blocks, threads);
          });
        }
      }
    }
  }
}

TEST_CASE("the wave with a launch per step is the reference's, height by height") {
  const std::uint64_t seed = Catch::getSeed();
  for (const rectangle of : rectangles()) {
    for (const unsigned steps : {0U, 1U, 8U}) {
      CAPTURE(seed, of.width, of.height, steps);
      check_wave(of, steps, seed, [&](int* now, int* before) {
        course::wave_launch_by_launch(now, before, of.width, of.height, steps, 5, 64);
      });
    }
  }
}

TEMPLATE_TEST_CASE("the wave is right with every barrier", "", EVERY_BARRIER) {
  constexpr unsigned threads = 64;
  const std::uint64_t seed = Catch::getSeed();
  const unsigned blocks = fitting_blocks(course::wave_steps_with<TestType>, threads, 500);
  auto words = course::new_barrier<TestType>(blocks);
  const rectangle of = testing::brief_tests() ? rectangle{20, 9} : rectangle{130, 200};
  for (const unsigned steps : {3U, 10U}) {
    CAPTURE(seed, steps);
    check_wave(of, steps, seed, [&](int* now, int* before) {
      course::wave_with<TestType>(now, before, of.width, of.height, steps, words.data(), blocks,
                                  threads);
    });
  }
}

TEMPLATE_TEST_CASE("the wave in bands is the reference's, height by height", "", generation_barrier,
                   one_word_barrier, backoff_barrier) {
  const std::uint64_t seed = Catch::getSeed();
  const auto most = static_cast<unsigned>(lab::describe_device().multiprocessors);
  auto words = course::new_barrier<TestType>(most);
  for (const rectangle of : rectangles()) {
    for (const unsigned threads : testing::all_or_few({32, 256}, {32})) {
      for (const unsigned blocks : {1U, 3U, most}) {
        for (const unsigned steps : {0U, 1U, 2U, 9U}) {
          const bool fits = course::wave_band_bytes(of.width, of.height, blocks) <= 90'000;
          if (blocks > most || !fits) continue;
          CAPTURE(seed, of.width, of.height, threads, blocks, steps);
          check_wave(of, steps, seed, [&](int* now, int* before) {
            course::wave_with_bands<TestType>(now, before, of.width, of.height, steps, words.data(),
                                              blocks, threads);
          });
        }
      }
    }
  }
}

TEST_CASE("a band that does not fit in shared memory is refused") {
  constexpr unsigned width = 20'000;
  auto words = course::new_barrier<generation_barrier>(1);
  lab::device_buffer<int> now(std::size_t{width} * 20);
  lab::device_buffer<int> before(std::size_t{width} * 20);
  REQUIRE_THROWS_AS(course::wave_with_bands<generation_barrier>(now.data(), before.data(), width,
                                                                20, 1, words.data(), 1, 256),
                    lab::cuda_error);
  // It is not sticky.
  CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("the wave can be run backwards, so no wrong height is ever forgotten") {
  constexpr rectangle of = {33, 21};
  constexpr unsigned threads = 32;
  const unsigned blocks = fitting_blocks(course::wave_steps, threads, 8);
  const unsigned steps = testing::brief_tests() ? 6 : 200;
  auto words = course::new_barrier<generation_barrier>(1);
  const course::wave_heights start = course::random_wave(of.width, of.height, 3);
  lab::device_buffer<int> now(start.now);
  lab::device_buffer<int> before(start.before);
  course::wave_in_one_launch(now.data(), before.data(), of.width, of.height, steps, words.data(),
                             blocks, threads);
  REQUIRE(now.to_host() != start.now);
  // Time turns around where the two arrays change places.
  course::wave_in_one_launch(before.data(), now.data(), of.width, of.height, steps, words.data(),
                             blocks, threads);
  REQUIRE(now.to_host() == start.now);
  REQUIRE(before.to_host() == start.before);
}
