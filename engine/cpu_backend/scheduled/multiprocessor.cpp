// SPDX-License-Identifier: MIT
#include "cpu_backend/multiprocessor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/fibers/fiber.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/scheduled/decisions.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"
#include "cpu_backend/shared_memory.hpp"

// The linker's names for the begin of the program and the end of its functions.
extern "C" {
extern const char __executable_start;
extern const char etext;
}

namespace cpu_backend {
namespace {

std::vector<shared_variable_of_file::announcement>& variables_of_files() {
  static auto& announced = *new std::vector<shared_variable_of_file::announcement>;
  return announced;
}

}  // namespace

// ---- Launches, blocks and turns

void multiprocessor::begin(grid& of) {
  prepare(of);
  dynamic_shared_memory_ = memory_of_extern_arrays.usable;
  start_order_.resize(threads_);
  has_block_ = false;
}

void multiprocessor::go_on_with(const grid& of) {
  blockDim = of.threads;
  gridDim = of.blocks;
  memory_wait::memory_changed();
}

void multiprocessor::end() {
  if (grid_->failed()) forget_block();
  shared_variables_.give_up();
  has_block_ = false;
  current_ = nullptr;
  grid_ = nullptr;
}

bool multiprocessor::take_block() {
  if (grid_->failed() || !grid_->take_block(block_index_)) return false;
  block_ = grid_->number_of(block_index_);
  scheduler::current().order_threads(start_order_);
  next_to_start(0);
  stealing_.begun = stealing_.asks = false;
  has_fenced_ = is_held_back_after_atomic_ = false;
  fruitless_ = 0;
  parked_.clear();
  decided_ = no_block;
  at_grid_barrier_.reset();
  anything_waited_ = true;  // no thread is known to be done by its rank
  warps_.begin_block(0, threads_);
  shared_variables_.clear();
  std::memset(dynamic_shared_memory_, unknown_byte, grid_->dynamic_shared_bytes);
  shared_variables_.add(dynamic_shared_memory_, grid_->dynamic_shared_bytes);
  observer::block_begins(
      {number_, block_, block_index_, dynamic_shared_memory_, grid_->dynamic_shared_bytes});
  count(events_);
  return true;
}

bool multiprocessor::take_turn() {
  this_multiprocessor = this;
  const bool begins = !has_block_ || is_late_;
  if (!has_block_) {
    if (!take_block()) return false;
    has_block_ = true;
    current_ = fibers_.take();
    ++running_;
  }
  is_late_ = begins && scheduler::current().is_late(block_);
  if (is_late_) {
    turn_was_idle_ = true;
    changed_memory_ = false;
    return true;
  }
  blockIdx = block_index_;
  threadIdx = current_->index;
  shared_variables_.restore();
  observer::block_runs(number_);
  if (begins) announce_variables_of_files();
  turn_was_idle_ = changed_memory_ = false;
  gone_on_ = 0;
  held_back_ = 0;
  holds_block_.store(true, std::memory_order_relaxed);
  switch_fiber(os_thread_, current_->own);
  holds_block_.store(false, std::memory_order_relaxed);
  observer::block_pauses();
  if (has_block_) shared_variables_.save();
  return true;
}

void multiprocessor::give_turn_back(bool idle) {
  resident_thread& self = *current_;
  self.index = threadIdx;
  turn_was_idle_ = idle || all_wait_for_memory();
  switch_fiber(self.own, os_thread_);
  observer::thread_runs(thread_rank());
  if (grid_->failed()) abandon_block();
}

// Each block gets a turn of its own from the player.
bool block_execution::next_block_begins() {
  observer::block_ends();
  static_cast<multiprocessor*>(this)->has_block_ = false;
  return false;
}

std::vector<diagnostic> multiprocessor::waiting_threads_of_block() const {
  return waiting_threads(block_index_);
}

// ---- Threads

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

void block_execution::go_on_with_another() {
  resident_thread& self = *current_;
  self.index = threadIdx;
  observer::thread_pauses();  // a new thread takes memory of the backend's
  resident_thread* next = next_runnable();
  if (next != &self) {
    current_ = next;
    switch_fiber(self.own, next->own);
    threadIdx = self.index;
  }
  self.reason = wait_reason::none;
  observer::thread_runs(thread_rank());
}

void block_execution::block_barrier(place at, bool orders_memory) {
  if (!at.surely_same(barrier_.called_from())) come_to_another_barrier(at);
  static_cast<multiprocessor*>(this)->note_arrival(__builtin_return_address(0));
  if (decisions* list = decisions::active()) {
    if (!orders_memory) list->refuse("stealing");
    multiprocessor& on = static_cast<multiprocessor&>(*this);
    const observer::runtime_access now;
    list->arrives({on.block(), thread_rank()});
  }
  observer::barrier_arrives(orders_memory);
  observer::thread_pauses();      // go_on_with_another ends the pause
  memory_wait::memory_changed();  // one thread less to wait for memory
  wait_at_barrier(at);
  if (barrier_.arrive() == running_ && all_have_started()) open_barrier();
  go_on_with_another();
  if (scheduler::current().interrupts_block()) {
    static_cast<multiprocessor*>(this)->give_turn_back(false);
  }
}

// One place of the source may be two barriers: that of a function that is called in two branches.
void multiprocessor::note_arrival(const void* from) {
  if (barrier_.arrived() == 0) {
    arrived_first_ = {from, thread_rank()};
  } else if (from != arrived_first_.from) {
    observer::barrier_reached_elsewhere(from, arrived_first_.rank, arrived_first_.from);
  }
}

void multiprocessor::switch_point(const place& at) {
  scheduler& order = scheduler::current();
  if (order.interrupts_block()) give_turn_back(false);
  if (!order.interrupts_thread()) return;
  if (all_have_started() && runnable_.empty()) return;
  runnable_.push(current_);
  wait(wait_reason::none, at);
}

void multiprocessor::hold_back(const place& at) {
  has_fenced_ = false;
  is_held_back_after_atomic_ = scheduler::current().any(2) == 0;
  if (is_held_back_after_atomic_) return;
  // The other threads of the block come first: they may have to fence, too.
  do {
    if (all_have_started() && runnable_.empty()) break;
    runnable_.push(current_);
    wait(wait_reason::none, at);
  } while (!all_have_started());
  hold_back_now();
}

void multiprocessor::hold_back_now() {
  is_held_back_after_atomic_ = false;
  static std::uint64_t blocks_held_back = 0;
  held_back_ = ++blocks_held_back;
  give_turn_back(false);
}

bool multiprocessor::has_local(const void* address) const {
  const auto holds = [&](const void* begin, std::size_t bytes) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) -
                                    static_cast<const std::byte*>(begin)) < bytes;
  };
  // A launch by a pointer to a function refers to that variable of the host, which is close to
  // the arguments.
  constexpr std::size_t frame_of_host = 4096;
  if (holds(arguments_.data() - frame_of_host, 2 * frame_of_host) &&
      reinterpret_cast<std::uintptr_t>(address) % alignof(void*) == 0) {
    const auto* const value = *static_cast<const char* const volatile*>(address);
    if (value >= &__executable_start && value < &etext) return true;
  }
  const fiber_stack& stack = *current_->own.stack;
  return holds(stack.bottom, stack.bytes) || holds(arguments_.data(), arguments_.size()) ||
         holds(this, sizeof *this) || holds(current_, sizeof *current_) || warps_.hold(address);
}

// ---- A run by decisions

void multiprocessor::wait_for_decision(const void* address) {
  const unsigned rank = thread_rank();
  const std::uint64_t state = std::exchange(noted_state_, 0);
  {
    const observer::runtime_access now;
    decisions::active()->comes_to({block_, rank}, address, address ? state : 0);
    parked_.insert(std::lower_bound(parked_.begin(), parked_.end(), rank), rank);
  }
  const auto all_are_parked = [&] {
    return all_have_started() && parked_.size() == running_ - barrier_.arrived() - warps_.waiting();
  };
  while (decided_ != rank) {
    // If it waits in a loop, it has come from there.
    note_wait(wait_reason::spinning, current_->waits_at);
    if (decided_ == no_block && all_are_parked()) {
      give_turn_back(false);
    } else {
      runnable_.push(current_);
      go_on_with_another();
    }
  }
  decided_ = no_block;
  const observer::runtime_access now;
  parked_.erase(std::find(parked_.begin(), parked_.end(), rank));
  state_before_access_ = address ? state : 0;
}

void multiprocessor::accessed_strongly(const void* address, std::size_t bytes,
                                       observer::access kind, bool changed_memory,
                                       const char* order, const place& at) {
  decisions* const list = decisions::active();
  if (!list) return;
  current_->waits_at = at;
  list->accessed({block_, thread_rank()}, address, bytes, kind, changed_memory,
                 state_before_access_, order);
}

// Only at a strong access may another thread come between, and who looks at plain memory until it
// changes never comes to one.
bool multiprocessor::goes_on() {
  constexpr unsigned often_enough = 1024;
  return decisions::active() && ++gone_on_ < often_enough;
}

bool multiprocessor::leaves_grid_barrier() const {
  return has_block_ && at_grid_barrier_ &&
         (grid_->barrier_generation != *at_grid_barrier_ || grid_->finished_blocks != 0);
}

// ---- Waiting by looking at memory again and again

void multiprocessor::note_state(const void* frame) {
  if (fruitless_ + 1 < fruitless_limit && !decisions::active()) return;
  const fiber_stack& stack = *current_->own.stack;
  noted_state_ = hash_of_thread(frame, stack.bottom + stack.bytes);
}

void multiprocessor::looks_from(const void* instruction) {
  const observer::runtime_access now;
  const unsigned fiber = current_->own.stack->index;
  if (fiber >= looks_from_.size()) looks_from_.resize(fiber + 1);
  looks_from_[fiber] = instruction;
}

// Whether all threads of the block that do not wait for each other wait for memory.
bool multiprocessor::all_wait_for_memory() const {
  return all_have_started() &&
         memory_wait_.waiting() >= running_ - barrier_.arrived() - warps_.waiting();
}

void block_execution::let_others_run(const place& at) {
  if (decisions::active()) return;  // they run at each strong access
  fruitless_ = 0;
  current_->reason = wait_reason::spinning;
  current_->waits_at = at;
  if (grid_->failed()) abandon_block();
  multiprocessor& on = static_cast<multiprocessor&>(*this);
  on.memory_wait_.looked(current_->own.stack->index, on.noted_state_);
  const bool idle = on.all_wait_for_memory();
  if (idle || scheduler::current().interrupts_block()) on.give_turn_back(idle);
  if (all_have_started() && runnable_.empty()) return;
  runnable_.push(current_);
  wait(wait_reason::spinning, at);
  if (grid_->failed()) abandon_block();
}

__attribute__((noinline)) void block_execution::sleep(const place& at) {
  __builtin_unwind_init();
  fruitless_ = fruitless_limit;
  static_cast<multiprocessor*>(this)->note_state(__builtin_frame_address(0));
  let_others_run(at);
}

// ---- Static shared memory

void multiprocessor::use_shared_variable(void* address, std::size_t bytes, const char* name,
                                         const char* type) {
  {
    const observer::runtime_access now;
    if (!shared_variables_.add(address, bytes)) return;
  }
  // What is static is known only now.
  const cudaDeviceProp& device = device_properties();
  const bool is_raised = dynamic_shared_memory_limit(grid_->kernel) > device.sharedMemPerBlock;
  const std::size_t in_use = shared_variables_.bytes_in_use();
  if (in_use > (is_raised ? device.sharedMemPerBlockOptin : device.sharedMemPerBlock)) {
    fail_as("static_and_dynamic_shared", grid_->launched_at, "", static_cast<int>(in_use));
  }
  // The kernel does not write this.
  observer::thread_pauses();
  std::memset(address, unknown_byte, bytes);
  observer::thread_runs(thread_rank());
  observer::shared_variable_appears({static_cast<std::byte*>(address), bytes, name, type, false});
}

void multiprocessor::use_shared_variable_of_file(void* address, std::size_t bytes, const char* name,
                                                 const char* type) {
  constexpr bool is_used = false;
  shared_variables_.add(address, bytes, is_used);
  std::memset(address, unknown_byte, bytes);
  observer::shared_variable_appears({static_cast<std::byte*>(address), bytes, name, type, true});
}

void multiprocessor::announce_variables_of_files() {
  for (const auto announce : variables_of_files()) announce(*this);
}

shared_variable_of_file::shared_variable_of_file(announcement of_one) {
  variables_of_files().push_back(of_one);
}

void memory_wait::looked(unsigned fiber, std::uint64_t state) {
  if (since_ != changes_) {
    since_ = changes_;
    waiting_ = 0;
  }
  if (fiber >= turns_.size()) turns_.resize(fiber + 1);
  turns& mine = turns_[fiber];
  if (mine.since != changes_) {
    mine.since = changes_;
    mine.repeated = 0;
  }
  constexpr unsigned enough = 2;  // the first may have looked before the change
  if (mine.state != state) {
    waiting_ -= mine.repeated >= enough;
    mine.state = state;
    mine.repeated = 0;
  } else if (++mine.repeated == enough) {
    ++waiting_;
  }
}

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
