// SPDX-License-Identifier: MIT
// How a block ends that can't go on, and what is said about it.
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/execution/failure_message.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

bool block_execution::is_first_failure(cudaError_t error) { return grid_->fail_first(error); }

void block_execution::print_thread_failure(const std::string& message) const {
  print_block_failure(describe(threadIdx) + ": " + message);
}

void block_execution::print_block_failure(const std::string& message) const {
  print_failure(*grid_, describe_block(blockIdx) + ", " + message);
}

void block_execution::fail(const kernel_fault& fault) {
  if (is_first_failure(fault.error())) {
    grid_->fault_is_taken = true;  // not to be overwritten by a thread that is stopped later
    grid_->fault = fault;
    grid_->fault.block = blockIdx;
    grid_->fault.thread = threadIdx;
    grid_->fault.shared_memory = dynamic_shared_memory_;
    grid_->fault.shared_bytes = grid_->dynamic_shared_bytes;
    grid_->fault.is_behind_shared_variables =
        fault.operand.has_address &&
        static_cast<multiprocessor*>(this)->is_behind_shared_variables(fault.operand.address);
  }
  abandon_running_thread();
}

void block_execution::stop(const call_stack& calls) {
  if (!grid_->fault_is_taken.exchange(true)) {
    grid_->fault.what = kernel_fault::kind::stopped;
    grid_->fault.block = blockIdx;
    grid_->fault.thread = threadIdx;
    grid_->fault.calls = calls;
  }
  abandon_running_thread();
}

void block_execution::fail_block(cudaError_t error, const std::string& message) {
  if (is_first_failure(error)) print_failure(*grid_, describe_block(blockIdx) + ": " + message);
}

void block_execution::fail_as_stuck() {
  if (is_first_failure(cudaErrorLaunchFailure)) {
    print_block_failure(
        "deadlock: every thread of the block waits, and none is left that could release them:\n" +
        describe_waiting_threads());
  }
  abandon_block();
}

void block_execution::abandon_running_thread() {
  current_->reason = wait_reason::none;
  abandon_block();
}

void block_execution::abandon_block() {
  resident_thread& self = *current_;
  // The watch's signal must not come in between, which would abandon the block once more.
  holds_block_.store(false, std::memory_order_relaxed);
  if (grid_->describe_on_abandon.load(std::memory_order_relaxed)) {
    std::string text = "  " + describe_block(blockIdx) + ":\n" + describe_waiting_threads();
    if (self.reason == wait_reason::none) text += "  " + describe(threadIdx) + " runs\n";
    std::fputs(text.c_str(), stderr);
  }
  abandon_fiber(self.own, os_thread_);
  __builtin_unreachable();
}

void block_execution::forget_block() {
  running_ = 0;
  next_to_start(threads_);
  progressed();
  barrier_.clear();
  runnable_.clear();
  warps_.clear();
  fibers_.restart_all();
}

std::string block_execution::describe_waiting_threads() const {
  struct group {
    uint3 first{};
    unsigned threads = 0;
  };
  std::map<std::tuple<wait_reason, std::string>, group> groups;
  for (const resident_thread& thread : fibers_.all()) {
    if (thread.reason == wait_reason::none) continue;
    group& of = groups[{thread.reason, describe(thread.waits_at)}];
    if (of.threads++ == 0) of.first = thread.index;
  }
  std::string text;
  for (const auto& [key, of] : groups) {
    const auto& [reason, where] = key;
    text += "  " + describe(of.first);
    if (of.threads > 1) text += " and " + std::to_string(of.threads - 1) + " more";
    text += reason == wait_reason::block_barrier ? " at the block's barrier, "
            : reason == wait_reason::warp        ? " for other lanes of the warp, "
                                                 : " for a value in memory, ";
    text += where + "\n";
  }
  return text;
}

}  // namespace cpu_backend
