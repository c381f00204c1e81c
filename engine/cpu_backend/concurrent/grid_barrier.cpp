// SPDX-License-Identifier: MIT
#include <mutex>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

void grid_barrier(multiprocessor& of, const place& at) {
  grid& now = of.running_grid();
  std::unique_lock lock(now.barrier_mutex);
  const std::uint64_t generation = now.barrier_generation;
  if (++now.blocks_at_barrier == now.total_blocks) {
    now.blocks_at_barrier = 0;
    ++now.barrier_generation;
    now.barrier_opened.notify_all();
    return;
  }
  of.waits_for_grid(true);
  now.barrier_opened.wait(lock, [&] {
    return now.barrier_generation != generation || now.failed() || now.finished_blocks != 0;
  });
  of.waits_for_grid(false);
  const bool opened = now.barrier_generation != generation;
  lock.unlock();
  if (opened) return;
  if (now.failed()) of.abandon_block();
  of.fail(cudaErrorLaunchFailure,
          [&] { return diagnostic("grid_barrier_without_all").add("at", at); });
}

}  // namespace cpu_backend
