// SPDX-License-Identifier: MIT
// How a block ends before its threads have returned: what a thread at fault says, and what the
// block's other threads waited for.
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu_backend/device_functions/atomic_word.hpp"
#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend {

bool block_execution::is_first_failure(cudaError_t error) { return grid_->fail_first(error); }

void block_execution::report_thread_failure(diagnostic of) const {
  report_failure(*grid_, of.add("block", blockIdx).add("thread", threadIdx));
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

void block_execution::fail_as(const char* kind, const place& at, const char* operation,
                              long long number) {
  fail(cudaErrorLaunchFailure, [&] {
    diagnostic failed(kind);
    failed.add("at", at).add("operation", operation).add("number", number);
    const std::string text = make_source_line(at.file(), at.line()).text;
    if (!text.empty()) failed.add("text", text);
    return failed;
  });
}

void block_execution::fail_block(cudaError_t error, diagnostic of) {
  if (is_first_failure(error)) report_failure(*grid_, of.add("block", blockIdx));
}

void block_execution::fail_as_stuck() {
  if (is_first_failure(cudaErrorLaunchFailure)) {
    diagnostic stuck("block_deadlock");
    const std::vector<diagnostic> waiting = waiting_threads(blockIdx);
    report_failure(*grid_, stuck.add("block", blockIdx), '\n' + lines_of(waiting));
    for (const diagnostic& each : waiting) write_record(each);
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
    std::vector<diagnostic> found = waiting_threads(blockIdx);
    if (self.reason == wait_reason::none) {
      found.push_back(diagnostic("running").add("block", blockIdx).add("thread", threadIdx));
    }
    for (const diagnostic& each : found) write_record(each);
    write_to_stderr(heading_of(blockIdx) + lines_of(found));
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

std::vector<diagnostic> block_execution::waiting_threads(const uint3& block) const {
  struct group {
    const resident_thread* first = nullptr;
    unsigned threads = 0;
  };
  const auto& on = static_cast<const multiprocessor&>(*this);
  std::map<std::tuple<wait_reason, std::string, unsigned, const void*>, group> groups;
  for (const resident_thread& thread : fibers_.all()) {
    if (thread.reason == wait_reason::none) continue;
    const place& at = thread.waits_at;
    const void* const from = at.line() == 0 ? on.looked_from(thread) : nullptr;
    group& of = groups[{thread.reason, at.file(), at.line(), from}];
    if (of.threads++ == 0) of.first = &thread;
  }
  std::vector<diagnostic> found;
  for (const auto& [key, of] : groups) {
    diagnostic each("waiting");
    each.add("block", block).add("thread", of.first->index);
    if (of.threads > 1) each.add("more", of.threads - 1);
    const wait_reason reason = of.first->reason;
    each.add("awaits", reason == wait_reason::block_barrier ? "the_blocks_barrier"
                       : reason == wait_reason::warp        ? "other_lanes"
                                                            : "a_value_in_memory");
    if (of.first->waits_at.line() != 0) {
      each.add("at", of.first->waits_at);
    } else if (const void* const from = std::get<const void*>(key)) {
      call_stack calls;
      calls.instructions[calls.count++] = from;
      each.add("at", line_of(calls));
    }
    found.push_back(std::move(each));
  }
  return found;
}

void misaligned_atomic(const volatile void* address, unsigned bytes, const place& at) {
  if (!this_multiprocessor) return;
  kernel_fault fault;
  fault.what = kernel_fault::kind::misaligned;
  fault.operand = {true, reinterpret_cast<std::uintptr_t>(address), bytes, access_kind::atomic};
  fault.called_from = at;
  this_multiprocessor->fail(fault);
}

}  // namespace cpu_backend

// assert() in a kernel ends the launch with cudaErrorAssert, as on a GPU, and not the program. This
// takes the place of the C library's function of the same name.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file, unsigned line,
                                           const char* function) noexcept {
  const auto failed = [&] {
    return cpu_backend::diagnostic("assertion")
        .add("at", cpu_backend::source_line{file, line, ""})
        .add("function", function)
        .add("expression", assertion);
  };
  if (cpu_backend::this_multiprocessor) {
    cpu_backend::this_multiprocessor->fail(cudaErrorAssert, failed);
  }
  cpu_backend::report(failed());
  std::abort();
}

// exit() in a kernel ends the launch with an error, and not the program: nvcc has no such function
// for kernels. The linker hands all calls of exit() over to this one (--wrap).
extern "C" [[noreturn]] void __real_exit(int status);
extern "C" [[noreturn]] void __wrap_exit(int status);

void __wrap_exit(int status) {
  cpu_backend::multiprocessor* on = cpu_backend::this_multiprocessor;
  if (on && on->holds_block() && cpu_backend::observer::thread_is_in_kernel()) {
    cpu_backend::kernel_fault fault;
    fault.what = cpu_backend::kernel_fault::kind::exit;
    fault.calls = cpu_backend::call_stack::here();
    on->fail(fault);
  }
  __real_exit(status);
}
