// SPDX-License-Identifier: MIT
// The fibers of a block: which thread runs, and which goes on when one waits or has returned.
#include "cpu_backend/execution/block_execution.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"

CPU_BACKEND_BEFORE_SHARED __thread uint3 threadIdx{};
CPU_BACKEND_BEFORE_SHARED __thread uint3 blockIdx{};
CPU_BACKEND_BEFORE_SHARED __thread dim3 blockDim{};
CPU_BACKEND_BEFORE_SHARED __thread dim3 gridDim{};

namespace cpu_backend {

CPU_BACKEND_BEFORE_SHARED __thread multiprocessor* this_multiprocessor = nullptr;

multiprocessor& calling_multiprocessor(const char* function, const place& at) {
  report(diagnostic("called_by_host").add("at", at).add("function", function));
  std::exit(1);
}

block_execution::block_execution(unsigned number) : number_(number) {
  // One fixed address for each multiprocessor, so that a reference to it stays good for every
  // launch.
  constexpr std::size_t page = 4096;  // at its end, for what notices a write there
  const std::size_t bytes = device_properties().sharedMemPerBlockOptin + page;
  void* memory = mmap(nullptr, bytes + 2 * around_shared_memory, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    dynamic_shared_memory_ = static_cast<std::byte*>(memory) + around_shared_memory;
  }
  if (memory == MAP_FAILED ||
      mprotect(dynamic_shared_memory_, bytes, PROT_READ | PROT_WRITE) != 0) {
    std::perror("CPU backend: no memory for a multiprocessor's shared memory");
    std::exit(1);
  }
}

void block_execution::prepare(grid& of) {
  grid_ = &of;
  blockDim = of.threads;
  gridDim = of.blocks;
  threads_ = of.threads.x * of.threads.y * of.threads.z;
  thread_index_.store(&threadIdx, std::memory_order_relaxed);
  adopt_thread_stack(os_thread_, os_thread_stack_);
}

void block_execution::fiber_entry() {
  fiber_has_begun();
  this_multiprocessor->run_fiber();
}

bool block_execution::run_threads() {
  try {
    grid_->run_threads(static_cast<multiprocessor&>(*this), grid_->body);
    return true;
  } catch (const std::exception& exception) {
    exception_ = exception.what();
  } catch (...) {
    exception_ = "of a type not derived from std::exception";
  }
  return false;
}

void block_execution::run_fiber() {
  for (;;) {
    if (!run_threads()) {
      fail(cudaErrorLaunchFailure,
           [this] { return diagnostic("exception").add("exception", exception_); });
    }
  }
}

// The fiber whose thread is the block's last goes on with the next block, if the form wants it to:
// nullptr. Any other one becomes idle.
fiber* block_execution::other_fiber_to_run() {
  resident_thread& self = *current_;
  --running_;
  if (running_ == 0) {
    block_finished(*grid_);
    if (next_block_begins()) {
      ++running_;
      return nullptr;
    }
  } else {
    open_barrier_if_all_wait();
  }
  self.reason = wait_reason::none;
  fibers_.put_back(&self);
  if (running_ == 0) return &os_thread_;
  current_ = next_runnable();
  return &current_->own;
}

std::uint64_t block_execution::launch_number() const { return grid_->number; }
bool block_execution::is_cooperative() const { return grid_->cooperative; }

// The fiber to go on with: one for a thread that has not started, else the one that waits longest.
resident_thread* block_execution::next_runnable() {
  if (unstarted_thread() < threads_ && (runnable_.empty() || form::prefers_new_thread())) {
    ++running_;
    return fibers_.take();
  }
  if (runnable_.empty()) [[unlikely]]
    fail_as_stuck();
  resident_thread* next = runnable_.pop();
  runnable_.prefetch_first_stack();
  return next;
}

void block_execution::first_wait() {
  count_started();
  anything_waited_.store(true, std::memory_order_relaxed);
  // Until now no thread waited, so those before this one have returned.
  warps_.begin_block(thread_rank(), threads_);
}

void block_execution::returned(unsigned rank) {
  observer::thread_pauses();
  const unsigned warp = rank / warp_size;
  warps_.lane_returned(warp, rank % warp_size);
  const auto& open = warps_.open_in(warp);
  for (std::size_t i = 0; i < open.size();) {
    if (!close_if_complete(warp, *open[i])) ++i;
  }
  count(events_);
  progressed();
}

}  // namespace cpu_backend
