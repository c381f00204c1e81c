// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/scheduled/decisions.hpp"

namespace cpu_backend {

void grid_barrier(multiprocessor& of, const place& at) {
  grid& now = of.running_grid();
  observer::grid_barrier_arrives();
  const std::uint64_t generation = now.barrier_generation;
  if (++now.blocks_at_barrier == now.total_blocks) {
    now.blocks_at_barrier = 0;
    ++now.barrier_generation;
    if (decisions* list = decisions::active()) list->grid_barrier_opened();
  }
  while (now.barrier_generation == generation) {
    if (now.finished_blocks != 0) {
      of.fail(cudaErrorLaunchFailure,
              [&] { return diagnostic("grid_barrier_without_all").add("at", at); });
    }
    constexpr bool idle = true;
    of.wait_at_grid_barrier(generation);
    of.give_turn_back(idle);
  }
  of.pass_grid_barrier();
  observer::grid_barrier_passes();
}

}  // namespace cpu_backend
