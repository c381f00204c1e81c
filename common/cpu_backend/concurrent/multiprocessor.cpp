// SPDX-License-Identifier: MIT
#include "cpu_backend/multiprocessor.hpp"

#include <string>

#include "cpu_backend/execution/grid.hpp"

namespace cpu_backend {

void multiprocessor::run(grid& of) {
  this_multiprocessor = this;
  prepare(of);
  guard_shared_memory();
  if (take_block()) {
    current_ = fibers_.take();
    ++running_;
    holds_block_.store(true, std::memory_order_relaxed);
    switch_fiber(os_thread_, current_->own);
    holds_block_.store(false, std::memory_order_relaxed);
    if (of.failed()) forget_block();
  }
  current_ = nullptr;
  grid_ = nullptr;
}

bool multiprocessor::take_block() {
  if (grid_->failed() || !grid_->take_block(blockIdx)) return false;
  next_to_start(0);
  anything_waited_.store(false, std::memory_order_relaxed);
  stealing_.begun = stealing_.asks = false;
  fruitless_ = 0;
  count(events_);
  return true;
}

bool block_execution::next_block_begins() {
  multiprocessor& on = static_cast<multiprocessor&>(*this);
  on.check_shared_memory();
  return on.take_block();
}

// ---- The ends of shared memory

void multiprocessor::guard_shared_memory() {
  if (!variables_guard_.first) variables_guard_ = guard_shared_variables();
  // Of no bytes, too: the launch may have forgotten to say how many it needs.
  const std::size_t bytes = grid_->dynamic_shared_bytes;
  constexpr std::size_t alignment = alignof(canary);
  behind_dynamic_ = reinterpret_cast<canary*>(dynamic_shared_memory_ +
                                              (bytes + alignment - 1) / alignment * alignment);
  behind_dynamic_->restore();
}

void multiprocessor::check_shared_memory() {
  const bool variables_fit = variables_guard_.first->is_untouched();
  const bool dynamic_fits = behind_dynamic_->is_untouched();
  if (variables_fit && dynamic_fits) [[likely]]
    return;
  if (!variables_fit) {
    fail_block(cudaErrorIllegalAddress,
               "Invalid __shared__ write: a thread wrote past the end of a __shared__ variable; "
               "./lab racecheck FILE names the variable, the index, the line and the thread");
    variables_guard_.first->restore();
  } else {
    fail_block(
        cudaErrorIllegalAddress,
        "Invalid __shared__ write: a thread wrote past the end of the dynamic shared memory, "
        "which has " +
            std::to_string(grid_->dynamic_shared_bytes) +
            " bytes; ./lab racecheck FILE names the line and the thread");
  }
}

}  // namespace cpu_backend
