// SPDX-License-Identifier: MIT
// A block that begins late: when another one has come as far as was asked for, and in one launch.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/atomic>

#include "cpu_backend/scheduled.hpp"

extern "C" void racecheck_delay_last_block(const unsigned* until, unsigned at_most);

namespace {

constexpr unsigned blocks = 4;

// The first block counts up to `steps`, and the last one notes how far that has come.
__global__ void count_up(unsigned* counted, unsigned steps, unsigned* seen) {
  const cuda::atomic_ref<unsigned, cuda::thread_scope_device> word(*counted);
  // An update, since a load may get an older value at some seeds.
  if (blockIdx.x == gridDim.x - 1) *seen = word.fetch_add(0, cuda::memory_order_relaxed);
  if (blockIdx.x != 0) return;
  for (unsigned step = 1; step <= steps; ++step) word.store(step, cuda::memory_order_relaxed);
}

class launches {
 public:
  launches() {
    REQUIRE(cudaMalloc(&words_, 2 * sizeof(unsigned)) == cudaSuccess);
    // In this one the blocks begin in reverse, and nothing interrupts them.
    cpu_backend::scheduled::set_seed(1);
  }
  ~launches() { (void)cudaFree(words_); }
  launches(const launches&) = delete;
  launches& operator=(const launches&) = delete;

  const unsigned* counted() const { return words_; }

  unsigned seen_by_last_block(unsigned steps) {
    REQUIRE(cudaMemset(words_, 0, 2 * sizeof(unsigned)) == cudaSuccess);
    count_up<<<blocks, 1>>>(words_, steps, words_ + 1);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    unsigned seen = 0;
    REQUIRE(cudaMemcpy(&seen, words_ + 1, sizeof seen, cudaMemcpyDeviceToHost) == cudaSuccess);
    return seen;
  }

 private:
  unsigned* words_ = nullptr;
};

}  // namespace

TEST_CASE("the last block begins when the word is as large as its number") {
  launches of;
  CHECK(of.seen_by_last_block(10) == 0);
  racecheck_delay_last_block(of.counted(), 10);
  CHECK(of.seen_by_last_block(10) >= blocks - 1);
  // Only the next launch is so.
  CHECK(of.seen_by_last_block(10) == 0);
}

TEST_CASE("it begins when there is no more to wait for") {
  launches of;
  racecheck_delay_last_block(of.counted(), 2);
  CHECK(of.seen_by_last_block(2) == 2);
}
