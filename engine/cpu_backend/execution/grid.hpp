// SPDX-License-Identifier: MIT
// One launch while it runs, shared by the multiprocessors that take its blocks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/form.hpp"
#include "driver_types.h"
#include "vector_types.h"

namespace cpu_backend {

class multiprocessor;
struct work;

struct grid {
  std::uint64_t number = 0;  // one for each launch of the process
  dim3 blocks;
  dim3 threads;
  bool cooperative = false;
  std::size_t dynamic_shared_bytes = 0;
  place launched_at{};
  const void* kernel = nullptr;  // its address, if the launch knows it
  const work* given = nullptr;

  // Whether it may give the host thread back before it has ended, and has, as its threads wait for
  // others; and whether anything was done in between.
  bool has_begun = false;
  bool may_wait = false;
  bool waits = false;
  bool moved = false;

  // Runs threads of resident blocks as long as this launch has some to start.
  void (*run_threads)(multiprocessor&, const void* body) = nullptr;
  const void* body = nullptr;

  std::uint64_t total_blocks = 0;
  // The queue of blocks that have not started. Who adds 1 owns the block it read, or finds the
  // queue empty: a multiprocessor that starts it, or a running block that cancels it. On a line of
  // the cache of its own, since the processors take it from each other.
  alignas(64) std::atomic<std::uint64_t> next_block = 0;

  alignas(64) std::atomic<cudaError_t> error = cudaSuccess;
  kernel_fault fault;                             // of the first failure, if it was one
  std::atomic<bool> fault_is_taken = false;       // there is something in it, or is about to be
  std::atomic<bool> describe_on_abandon = false;  // a thread that gives up says what it waited for

  // The grid barrier of cooperative launches.
  std::mutex barrier_mutex;
  std::condition_variable barrier_opened;
  std::uint64_t barrier_generation = 0;
  std::uint64_t blocks_at_barrier = 0;
  std::uint64_t finished_blocks = 0;

  bool failed() const { return error.load(std::memory_order_relaxed) != cudaSuccess; }
  // True for the one caller whose failure is the launch's.
  bool fail_first(cudaError_t with) {
    cudaError_t none = cudaSuccess;
    return error.compare_exchange_strong(none, with);
  }

  bool take_block(uint3& index) {
    const std::uint64_t position = next_block.fetch_add(1, std::memory_order_relaxed);
    if (position >= total_blocks) return false;
    index = index_at(position);
    return true;
  }
  uint3 index_at(std::uint64_t position) const { return index_of(form::block_at(position)); }
  std::uint64_t number_of(const uint3& index) const {
    return (std::uint64_t{index.z} * blocks.y + index.y) * blocks.x + index.x;
  }

  uint3 index_of(std::uint64_t block) const {
    if (blocks.y == 1 && blocks.z == 1) return {static_cast<unsigned>(block), 0, 0};
    const std::uint64_t row = block / blocks.x;
    return {static_cast<unsigned>(block % blocks.x), static_cast<unsigned>(row % blocks.y),
            static_cast<unsigned>(row / blocks.y)};
  }
};

// Begins with the grid or goes on with it. Returns once no block of it is left, or it has failed;
// or once it waits, if it may. One host thread at a time.
void run_on_device(grid& of);

// How long a launch of which all threads wait is given for others to let it go on: two seconds, or
// LAB_TIMEOUT if that is less.
std::chrono::duration<double> patience_with_waiting();

// A block of a cooperative launch is done: a thread still at the grid barrier waits for ever.
void block_finished(grid& of);

}  // namespace cpu_backend
