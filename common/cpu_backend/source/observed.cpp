// SPDX-License-Identifier: MIT
// What a multiprocessor does otherwise in the observed form: it gives its turn back, starts threads
// in the schedule's order, and tells the observer.
#include <algorithm>
#include <cstring>

#include "cpu_backend/grid.hpp"
#include "cpu_backend/memory_semantics.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/report.hpp"
#include "cpu_backend/schedule.hpp"

namespace cpu_backend {
namespace {

// What a GPU leaves in shared memory is unknown; here it is the same in every run.
constexpr int unknown_byte = 0xCD;

// Whose __shared__ variables the static thread_local ones are at the moment.
const multiprocessor* shared_memory_holder = nullptr;

}  // namespace

void multiprocessor::begin(grid& of) {
  grid_ = &of;
  blockDim = of.threads;
  gridDim = of.blocks;
  threads_ = of.threads.x * of.threads.y * of.threads.z;
  start_order_.resize(threads_);
  has_block_ = false;
  adopt_thread_stack(os_thread_, os_thread_stack_);
}

void multiprocessor::end() {
  if (grid_->failed()) forget_block();
  if (shared_memory_holder == this) shared_memory_holder = nullptr;
  has_block_ = false;
  current_ = nullptr;
  grid_ = nullptr;
}

bool multiprocessor::take_block() {
  if (grid_->failed() || !grid_->take_block(block_index_)) return false;
  block_ = grid_->number_of(block_index_);
  schedule::current().order_threads(start_order_);
  next_to_start(0);
  stealing_ = false;
  fruitless_ = repeated_turns_ = 0;
  in_meetings_ = 0;
  anything_waited_ = true;  // no thread is known to be done by its rank
  for (unsigned first = 0, index = 0; first < threads_; first += warp_size, ++index) {
    const unsigned lanes = std::min(warp_size, threads_ - first);
    warps_[index].returned = lanes == warp_size ? 0 : ~0u << lanes;
  }
  shared_variables_.clear();
  std::memset(dynamic_shared_memory_, unknown_byte, grid_->dynamic_shared_bytes);
  observer::block_begins(
      {number_, block_, block_index_, dynamic_shared_memory_, grid_->dynamic_shared_bytes});
  count(events_);
  return true;
}

bool multiprocessor::take_turn() {
  this_multiprocessor = this;
  if (!has_block_) {
    if (!take_block()) return false;
    has_block_ = true;
    current_ = idle_fiber();
    ++running_;
  }
  blockIdx = block_index_;
  threadIdx = current_->index;
  restore_shared_variables();
  observer::block_runs(number_);
  turn_was_idle_ = changed_memory_ = false;
  holds_block_.store(true, std::memory_order_relaxed);
  switch_fiber(os_thread_, current_->own);
  holds_block_.store(false, std::memory_order_relaxed);
  observer::block_pauses();
  save_shared_variables();
  return true;
}

void multiprocessor::give_turn_back(bool idle) {
  resident_thread& self = *current_;
  self.index = threadIdx;
  turn_was_idle_ = idle || all_repeat_themselves();
  switch_fiber(self.own, os_thread_);
  observer::thread_runs(thread_rank());
  if (grid_->failed()) abandon_block();
}

// The running thread may be waiting for memory to change, and lets others run.
void multiprocessor::note_turn(std::uint64_t state) {
  if (repeating_since_ != memory_changes_) {
    repeating_since_ = memory_changes_;
    repeating_ = 0;
  }
  turns& mine = turns_[current_->own.stack->index];
  if (mine.since != memory_changes_) {
    mine.since = memory_changes_;
    mine.repeated = 0;
  }
  constexpr unsigned enough = 2;  // the first may have looked before the change
  if (mine.state != state) {
    repeating_ -= mine.repeated >= enough;
    mine.state = state;
    mine.repeated = 0;
  } else if (++mine.repeated == enough) {
    ++repeating_;
  }
}

// Whether all threads of the block that do not wait for each other wait for memory.
bool multiprocessor::all_repeat_themselves() const {
  return repeating_since_ == memory_changes_ && unstarted_thread() == threads_ &&
         repeating_ >= running_ - arrived_ - in_meetings_;
}

unsigned multiprocessor::start_thread() {
  const unsigned started = unstarted_thread();
  const unsigned rank = start_order_[started];
  next_to_start(started + 1);
  const unsigned row = rank / blockDim.x;
  threadIdx = {rank % blockDim.x, row % blockDim.y, row / blockDim.y};
  current_->index = threadIdx;
  current_->reason = wait_reason::none;
  observer::thread_runs(rank);
  return rank;
}

void multiprocessor::go_on_with_another() {
  resident_thread& self = *current_;
  self.index = threadIdx;
  resident_thread* next = next_runnable();
  if (next != &self) {
    current_ = next;
    observer::thread_pauses();
    switch_fiber(self.own, next->own);
    threadIdx = self.index;
  }
  self.reason = wait_reason::none;
  observer::thread_runs(thread_rank());
}

void multiprocessor::block_barrier(place at, bool orders_memory) {
  if (!at.surely_same(barrier_place_)) come_to_another_barrier(at);
  observer::barrier_arrives(orders_memory);
  observer::thread_pauses();  // go_on_with_another ends the pause
  ++memory_changes_;          // one thread less to wait for memory
  wait_at_barrier(at);
  if (++arrived_ == running_ && unstarted_thread() == threads_) open_barrier();
  go_on_with_another();
  if (schedule::current().interrupts_block()) give_turn_back(false);
}

void multiprocessor::switch_point(const place& at) {
  schedule& order = schedule::current();
  if (order.interrupts_block()) give_turn_back(false);
  if (!order.interrupts_thread()) return;
  if (unstarted_thread() == threads_ && runnable_.empty()) return;
  runnable_.push(current_);
  wait(wait_reason::none, at);
}

// ---- Static shared memory: one set of variables, lent to one block at a time.

void multiprocessor::use_shared_variable(void* address, std::size_t bytes, const char* name,
                                         const char* type) {
  for (const shared_variable& known : shared_variables_) {
    if (known.address == address) return;
  }
  shared_variables_.push_back({address, std::vector<std::byte>(bytes)});
  // The kernel does not write this.
  observer::thread_pauses();
  std::memset(address, unknown_byte, bytes);
  observer::thread_runs(thread_rank());
  observer::shared_variable_appears({static_cast<std::byte*>(address), bytes, name, type});
}

void multiprocessor::restore_shared_variables() {
  if (shared_memory_holder == this) return;
  for (const shared_variable& each : shared_variables_) {
    std::memcpy(each.address, each.image.data(), each.image.size());
  }
  shared_memory_holder = this;
}

void multiprocessor::save_shared_variables() {
  if (!has_block_) return;
  for (shared_variable& each : shared_variables_) {
    std::memcpy(each.image.data(), each.address, each.image.size());
  }
}

// ---- Fences and atomics

namespace {

observer::scope observed_scope(memory_scope scope) {
  return scope == memory_scope::block ? observer::scope::block : observer::scope::device;
}

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

}  // namespace

// As libcu++ does: a sequentially consistent operation is a fence and then the operation.
void begin_atomic(const memory_semantics& how, const place& at) {
  if (!this_multiprocessor || how.order != std::memory_order_seq_cst) return;
  if (how.scope == memory_scope::thread) return;
  observer::fenced({observed_scope(how.scope), true, at});
}

void observe_atomic(const void* address, unsigned bytes, observer::access kind,
                    const memory_semantics& how, bool changed_memory, const place& at) {
  multiprocessor* on = this_multiprocessor;
  if (!on) return;
  if (!changed_memory) {
    __builtin_unwind_init();
    on->note_state(__builtin_frame_address(0));
  }
  observer::atomic_done({static_cast<const std::byte*>(address), bytes, kind,
                         observed_scope(how.scope),
                         kind != observer::access::store && acquires(how.order),
                         kind != observer::access::load && releases(how.order), at});
  if (changed_memory) {
    on->progressed();
  } else {
    on->fruitless(at);
  }
  on->switch_point(at);
}

namespace {

template <class Word>
bool replace_word(void* address, std::uint64_t expected, std::uint64_t desired) {
  auto old = static_cast<Word>(expected);
  return __atomic_compare_exchange_n(static_cast<Word*>(address), &old, static_cast<Word>(desired),
                                     false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

}  // namespace

std::uint64_t read_memory(const void* address, unsigned bytes) {
  switch (bytes) {
    case 1:
      return __atomic_load_n(static_cast<const std::uint8_t*>(address), __ATOMIC_SEQ_CST);
    case 2:
      return __atomic_load_n(static_cast<const std::uint16_t*>(address), __ATOMIC_SEQ_CST);
    case 4:
      return __atomic_load_n(static_cast<const std::uint32_t*>(address), __ATOMIC_SEQ_CST);
    default:
      return __atomic_load_n(static_cast<const std::uint64_t*>(address), __ATOMIC_SEQ_CST);
  }
}

bool replace_memory(void* address, unsigned bytes, std::uint64_t expected, std::uint64_t desired) {
  switch (bytes) {
    case 1:
      return replace_word<std::uint8_t>(address, expected, desired);
    case 2:
      return replace_word<std::uint16_t>(address, expected, desired);
    case 4:
      return replace_word<std::uint32_t>(address, expected, desired);
    default:
      return replace_word<std::uint64_t>(address, expected, desired);
  }
}

void fence(std::memory_order order, memory_scope scope, const place& at) {
  std::atomic_thread_fence(order);
  multiprocessor* on = this_multiprocessor;
  if (!on || order == std::memory_order_relaxed || scope == memory_scope::thread) return;
  __builtin_unwind_init();
  on->note_state(__builtin_frame_address(0));
  observer::fenced({observed_scope(scope), order == std::memory_order_seq_cst, at});
  on->fruitless(at);
  on->switch_point(at);
}

__attribute__((noinline)) void multiprocessor::sleep(const place& at) {
  __builtin_unwind_init();
  fruitless_ = fruitless_limit;
  note_state(__builtin_frame_address(0));
  let_others_run(at);
}

// ---- The grid's barrier

void grid_barrier(multiprocessor& of, const place& at) {
  grid& now = of.running_grid();
  observer::grid_barrier_arrives();
  const std::uint64_t generation = now.barrier_generation;
  if (++now.blocks_at_barrier == now.total_blocks) {
    now.blocks_at_barrier = 0;
    ++now.barrier_generation;
  }
  while (now.barrier_generation == generation) {
    if (now.finished_blocks != 0) {
      of.fail(cudaErrorLaunchFailure, [&] {
        return "waits for the whole grid at " + describe(at) +
               ", but a block has ended without coming there";
      });
    }
    constexpr bool idle = true;
    of.give_turn_back(idle);
  }
  observer::grid_barrier_passes();
}

std::string multiprocessor::describe_block_that_waits() const {
  return "  " + describe_block(block_index_) + ":\n" + describe_waiting_threads();
}

}  // namespace cpu_backend
