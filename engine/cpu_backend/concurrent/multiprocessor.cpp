// SPDX-License-Identifier: MIT
#include "cpu_backend/multiprocessor.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/fibers/fiber.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/player.hpp"

namespace cpu_backend::form {

int default_number_of_sms() {
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 4);
}

}  // namespace cpu_backend::form

namespace cpu_backend {
namespace {

// A thread's variables end with those that start as zero, in the order in which the linker comes to
// them: the program's own, which its __shared__ variables are among, and then those of libraries.
// What the backend itself needs stands in front of them all (CPU_BACKEND_BEFORE_SHARED), so that
// this comes next. Beyond it the system keeps what it knows about the thread: an index that runs
// there ends the process without a word.
struct behind_shared_variables {
  canary first;
  std::byte pages[16 * 1024];
};
__thread behind_shared_variables behind;

}  // namespace

guarded_stretch guard_shared_variables() {
  guarded_stretch made{&behind.first, behind.pages, 0};
  behind.first.restore();
#ifndef CPU_BACKEND_ADDRESS_SANITIZER  // which reads all of a thread's variables at the end
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(behind.pages) + page - 1) / page * page;
  const auto end =
      reinterpret_cast<std::uintptr_t>(behind.pages + sizeof behind.pages) / page * page;
  if (begin < end && mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_NONE) == 0) {
    made.pages = reinterpret_cast<const std::byte*>(begin);
    made.page_bytes = end - begin;
  }
#endif
  return made;
}

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

// Threads that wait for another thread by reading memory again and again.
//
// A thread that is in the same state as when it last had its turn, its own variables and what it
// has just read alike, will go on like that until another thread changes memory. One that counts,
// or works between two looks, differs; it is never slowed down, and never taken for a deadlock.

void block_execution::let_others_run(const place& at) {
  fruitless_ = 0;
  current_->reason = wait_reason::spinning;
  current_->waits_at = at;
  if (grid_->failed()) abandon_block();
  static_cast<multiprocessor*>(this)->note_turn();
  if (!anything_waited()) count_started();
  if (all_have_started() && runnable_.empty()) return;
  runnable_.push(current_);
  wait(wait_reason::spinning, at);
  if (grid_->failed()) abandon_block();
}

// Not inlined, like all that it calls: a variable of this turn that is left in the frame of
// let_others_run, which is compared, would make the next turn's state another one.
__attribute__((noinline)) void multiprocessor::note_turn() {
  __builtin_unwind_init();
  const fiber_stack& stack = *current_->own.stack;
  const unsigned fiber = stack.index;
  if (fiber >= states_at_last_turn_.size()) states_at_last_turn_.resize(fibers_.all().size());
  const std::uint64_t state =
      hash_of_thread(__builtin_frame_address(0), stack.bottom + stack.bytes);
  std::uint64_t& last_state = states_at_last_turn_[fiber];
  repeated_turns_ = state == last_state ? repeated_turns_ + 1 : 0;
  last_state = state;
  if (repeated_turns_ > 2 * running_) back_off();
}

// Leaves the processor to the other blocks, ever longer, so that waiting does not burn a core.
__attribute__((noinline)) void multiprocessor::back_off() {
  constexpr unsigned yields = 64;
  constexpr long shortest_sleep = 20'000, longest_sleep = 1'000'000;  // nanoseconds
  const unsigned rounds = repeated_turns_ / (2 * running_);
  if (rounds < yields) {
    sched_yield();
    return;
  }
  count(idle_turns_);
  const timespec pause{
      0, std::min(longest_sleep, shortest_sleep * static_cast<long>(rounds - yields + 1))};
  nanosleep(&pause, nullptr);
}

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
