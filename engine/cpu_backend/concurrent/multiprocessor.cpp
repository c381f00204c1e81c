// SPDX-License-Identifier: MIT
#include "cpu_backend/multiprocessor.hpp"

#include <algorithm>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/player.hpp"

namespace cpu_backend {

void multiprocessor::run(grid& of) {
  this_multiprocessor = this;
  prepare(of);
  runs_whole_rows_ = false;
  next_block_ = end_of_blocks_ = 0;
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
  if (grid_->failed()) return false;
  if (next_block_ == end_of_blocks_ && !take_blocks()) return false;
  blockIdx = grid_->index_at(next_block_++);
  next_to_start(0);
  anything_waited_.store(false, std::memory_order_relaxed);
  stealing_.begun = stealing_.asks = false;
  fruitless_ = 0;
  count(events_);
  return true;
}

// Several at once where none can wait for another. Two processors pay for each that they take in
// turn, and for neighbouring blocks, which work on neighbouring memory. Ever fewer towards the end
// of the launch, so that all come to it together.
bool multiprocessor::take_blocks() {
  std::uint64_t wanted = 1;
  if (runs_whole_rows_) {
    constexpr std::uint64_t most = 64, rounds = 4;
    const std::uint64_t taken =
        std::min(grid_->next_block.load(std::memory_order_relaxed), grid_->total_blocks);
    wanted = std::clamp((grid_->total_blocks - taken) / (rounds * players_of(*grid_)),
                        std::uint64_t{1}, most);
  }
  const std::uint64_t first = grid_->next_block.fetch_add(wanted, std::memory_order_relaxed);
  if (first >= grid_->total_blocks) return false;
  next_block_ = first;
  end_of_blocks_ = std::min(first + wanted, grid_->total_blocks);
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
               diagnostic("write_past_shared_variable").add("command", check_command));
    variables_guard_.first->restore();
  } else {
    fail_block(cudaErrorIllegalAddress, diagnostic("write_past_dynamic_shared")
                                            .add("size", grid_->dynamic_shared_bytes)
                                            .add("command", check_command));
  }
}

}  // namespace cpu_backend
