// SPDX-License-Identifier: MIT
// Threads that wait for another thread by reading memory again and again.
//
// A thread that is in the same state as when it last had its turn, its own variables and what it
// has just read alike, will go on like that until another thread changes memory. One that counts,
// or works between two looks, differs; it is never slowed down, and never taken for a deadlock.
#include <sched.h>
#include <time.h>

#include <algorithm>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/stack_hash.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cpu_backend {

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

}  // namespace cpu_backend
