// SPDX-License-Identifier: MIT
#include "cpu_backend/multiprocessor.hpp"

#include <sched.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string_view>
#include <tuple>

#include "cpu_backend/context.hpp"
#include "cpu_backend/grid.hpp"
#include "cpu_backend/report.hpp"
#ifdef CPU_BACKEND_OBSERVED
#include "cpu_backend/observer.hpp"
#include "cpu_backend/schedule.hpp"
#endif

__thread uint3 threadIdx{};
__thread uint3 blockIdx{};
__thread dim3 blockDim{};
__thread dim3 gridDim{};

namespace cpu_backend {

__thread multiprocessor* this_multiprocessor = nullptr;

multiprocessor& calling_multiprocessor(const char* function, const place& at) {
  std::fprintf(stderr, "%s:%u: %s was called by the host; only a kernel can call it\n", at.file(),
               at.line(), function);
  std::exit(1);
}

multiprocessor::multiprocessor(unsigned number) : number_(number) {
  // One fixed address for each multiprocessor, so that a reference to it stays good for every
  // launch.
  const std::size_t bytes = device_properties().sharedMemPerBlockOptin;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("CPU backend: no memory for a multiprocessor's shared memory");
    std::exit(1);
  }
  dynamic_shared_memory_ = static_cast<std::byte*>(memory);
}

#ifndef CPU_BACKEND_OBSERVED
void multiprocessor::run(grid& of) {
  grid_ = &of;
  blockDim = of.threads;
  gridDim = of.blocks;
  threads_ = of.threads.x * of.threads.y * of.threads.z;
  adopt_thread_stack(os_thread_, os_thread_stack_);
  if (take_block()) {
    current_ = idle_fiber();
    ++running_;
    holds_block_.store(true, std::memory_order_relaxed);
    switch_fiber(os_thread_, current_->own);
    holds_block_.store(false, std::memory_order_relaxed);
    if (of.failed()) forget_block();
  }
  current_ = nullptr;
  grid_ = nullptr;
}
#endif

void multiprocessor::fiber_entry() {
  fiber_has_begun();
  this_multiprocessor->run_fiber();
}

bool multiprocessor::run_threads() {
  try {
    grid_->run_threads(*this, grid_->body);
    return true;
  } catch (const std::exception& exception) {
    exception_ = exception.what();
  } catch (...) {
    exception_ = "of a type not derived from std::exception";
  }
  return false;
}

void multiprocessor::run_fiber() {
  for (;;) {
    if (!run_threads()) {
      fail(cudaErrorLaunchFailure,
           [this] { return "an exception left the kernel: " + exception_; });
    }
  }
}

// The fiber whose thread is the block's last takes the next block, and goes on: nullptr. Any other
// one becomes idle, and so does the last one when there are no more blocks.
fiber* multiprocessor::other_fiber_to_run() {
  resident_thread& self = *current_;
  --running_;
  if (running_ == 0) {
    block_finished(*grid_);
#ifdef CPU_BACKEND_OBSERVED
    observer::block_ends();
    has_block_ = false;
#else
    if (take_block()) {
      ++running_;
      return nullptr;
    }
#endif
  } else {
    open_barrier_if_all_wait();
  }
  self.reason = wait_reason::none;
  idle_.push_front(&self);
  if (running_ == 0) return &os_thread_;
  current_ = next_runnable();
  return &current_->own;
}

std::uint64_t multiprocessor::launch_number() const { return grid_->number; }

#ifndef CPU_BACKEND_OBSERVED
bool multiprocessor::take_block() {
  if (grid_->failed() || !grid_->take_block(blockIdx)) return false;
  next_to_start(0);
  anything_waited_ = stealing_ = false;
  fruitless_ = 0;
  count(events_);
  return true;
}
#endif

namespace {

// The stack of the next in the queue is cold by now; half the time of a switch would go into
// waiting for it.
void prefetch_stack(const thread_queue& queue) {
  if (const resident_thread* next = queue.first()) {
    __builtin_prefetch(next->own.stack_pointer, 1);
    __builtin_prefetch(next->behind, 1);
  }
}

}  // namespace

resident_thread* multiprocessor::idle_fiber() {
  if (idle_.empty()) return new_fiber();
  resident_thread* fiber = idle_.pop();
  prefetch_stack(idle_);
  return fiber;
}

resident_thread* multiprocessor::new_fiber() {
  const auto number = static_cast<unsigned>(fibers_.size());
  resident_thread& made = fibers_.emplace_back();
#ifdef CPU_BACKEND_OBSERVED
  turns_.emplace_back();
#else
  states_at_last_turn_.push_back(0);
#endif
  create_fiber(made.own, stacks_.emplace_back(), fiber_entry, number);
  return &made;
}

// The fiber to go on with: one for a thread that has not started, else the one that waits longest.
resident_thread* multiprocessor::next_runnable() {
#ifdef CPU_BACKEND_OBSERVED
  const bool starts_one = unstarted_thread() < threads_ &&
                          (runnable_.empty() || schedule::current().prefers_new_thread());
#else
  const bool starts_one = unstarted_thread() < threads_;
#endif
  if (starts_one) {
    ++running_;
    return idle_fiber();
  }
  if (runnable_.empty()) [[unlikely]]
    report_stuck();
  resident_thread* next = runnable_.pop();
  prefetch_stack(runnable_);
  return next;
}

void multiprocessor::report_stuck() {
  if (is_first_failure(cudaErrorLaunchFailure)) {
    report_block(
        "deadlock: every thread of the block waits, and none is left that could release them:\n" +
        describe_waiting_threads());
  }
  abandon_block();
}

void multiprocessor::first_wait() {
  anything_waited_ = true;
  // Until now no thread waited, so those before this one have returned.
  const unsigned rank = unstarted_thread() - 1;
  for (unsigned first = 0, index = 0; first < threads_; first += warp_size, ++index) {
    const auto lanes_below = [&](unsigned end) {
      return end <= first ? 0u : end >= first + warp_size ? ~0u : (1u << (end - first)) - 1;
    };
    warps_[index].returned = lanes_below(rank) | ~lanes_below(threads_);
  }
}

void multiprocessor::note_wait(wait_reason reason, const place& at) {
  if (!anything_waited_) first_wait();
  current_->reason = reason;
  current_->waits_at = at;
}

void multiprocessor::wait(wait_reason reason, const place& at) {
  note_wait(reason, at);
  go_on_with_another();
}

void multiprocessor::returned(unsigned rank) {
#ifdef CPU_BACKEND_OBSERVED
  observer::thread_pauses();
#endif
  warp& of = warps_[rank / warp_size];
  of.returned |= 1u << (rank % warp_size);
  for (std::size_t i = 0; i < of.open.size();) {
    if (!complete_if_all_came(rank / warp_size, *of.open[i])) ++i;
  }
  count(events_);
  progressed();
}

// ---- the block's barrier

void multiprocessor::wait_at_barrier(place at) {
  note_wait(wait_reason::block_barrier, at);
  at_barrier_.push(current_);
}

void multiprocessor::open_barrier() {
#ifdef CPU_BACKEND_OBSERVED
  observer::barrier_opens();
  std::vector<resident_thread*> waiting;
  while (!at_barrier_.empty()) waiting.push_back(at_barrier_.pop());
  schedule::current().shuffle(waiting);
  for (resident_thread* thread : waiting) at_barrier_.push(thread);
#endif
  runnable_.append(at_barrier_);
  participants_of_last_barrier_ = arrived_;
  counted_at_last_barrier_ = counted_;
  arrived_ = 0;
  counted_ = 0;
  count(events_);
  progressed();
}

void multiprocessor::open_barrier_if_all_wait() {
  if (arrived_ != 0 && arrived_ == running_ && unstarted_thread() == threads_) open_barrier();
}

unsigned multiprocessor::block_barrier_count(const place& at, bool condition,
                                             unsigned* participants) {
  counted_ += condition;
  block_barrier(at);
  // The next barrier can't open before this thread has arrived there, so the results still stand.
  if (participants) *participants = participants_of_last_barrier_;
  return counted_at_last_barrier_;
}

// The place differs from that of the arrival before: right for the first of a new barrier, and only
// then.
void multiprocessor::come_to_another_barrier(place at) {
  if (arrived_ == 0) {
    barrier_place_ = at;
  } else if (!(at == barrier_place_)) {
    fail(cudaErrorLaunchFailure, [&] {
      const resident_thread& other = *at_barrier_.first();
      return "threads of one block wait at different barriers: " + describe(threadIdx) + " at " +
             describe(at) + ", but " + describe(other.index) + " at " + describe(other.waits_at);
    });
  }
}

// ---- warps

warp_meeting& multiprocessor::meet(unsigned mask, std::uint64_t value, const char* operation,
                                   const place& at) {
  const unsigned rank = thread_rank();
  const unsigned lane = rank % warp_size;
  if (!anything_waited_) first_wait();
  if (!(mask >> lane & 1)) {
    fail(cudaErrorLaunchFailure, [&] {
      return std::string(operation) + " at " + describe(at) +
             ": the mask does not name the calling lane " + std::to_string(lane);
    });
  }
  warp& of = warps_[rank / warp_size];
  warp_meeting* meeting = nullptr;
  for (warp_meeting* candidate : of.open) {
    if (candidate->mask == mask) meeting = candidate;
  }
  if (meeting) {
    check_same_operation(*meeting, operation, at);
  } else {
    if (free_meetings_.empty()) free_meetings_.push_back(&meetings_.emplace_back());
    meeting = free_meetings_.back();
    free_meetings_.pop_back();
    meeting->mask = mask;
    meeting->arrived = meeting->left = 0;
    meeting->operation = operation;
    meeting->first_place = at;
    of.open.push_back(meeting);
  }
  meeting->arrived |= 1u << lane;
  meeting->value[lane] = value;
  meeting->waiter[lane] = nullptr;
  if (!complete_if_all_came(rank / warp_size, *meeting)) {
    meeting->waiter[lane] = current_;
#ifdef CPU_BACKEND_OBSERVED
    ++in_meetings_;
#endif
    wait(wait_reason::warp, at);
  }
  return *meeting;
}

void multiprocessor::check_same_operation(const warp_meeting& meeting, const char* operation,
                                          const place& at) {
  if (std::string_view(meeting.operation) == operation) return;
  fail(cudaErrorLaunchFailure, [&] {
    return "lanes of one warp meet in different operations: " + std::string(operation) + " at " +
           describe(at) + ", but " + meeting.operation + " at " + describe(meeting.first_place);
  });
}

bool multiprocessor::complete_if_all_came(unsigned warp, warp_meeting& meeting) {
  auto& of = warps_[warp];
  if (meeting.mask & ~(meeting.arrived | of.returned)) return false;
  std::erase(of.open, &meeting);
#ifdef CPU_BACKEND_OBSERVED
  observer::lanes_meet(warp * warp_size, meeting.arrived,
                       std::string_view(meeting.operation) == "__syncwarp()");
#endif
  for (resident_thread* waiter : meeting.waiter) {
    if (!waiter) continue;
    runnable_.push(waiter);
#ifdef CPU_BACKEND_OBSERVED
    --in_meetings_;
#endif
  }
  std::fill(std::begin(meeting.waiter), std::end(meeting.waiter), nullptr);
  count(events_);
  progressed();
  return true;
}

void multiprocessor::leave(warp_meeting& meeting) {
  meeting.left |= 1u << (thread_rank() % warp_size);
  if (meeting.left == meeting.arrived) free_meetings_.push_back(&meeting);
}

// ---- work stealing

void multiprocessor::begin_stealing(int rank, const place& at) {
  if ((rank < 3 && blockDim.z > 1) || (rank < 2 && blockDim.y > 1)) {
    fail(cudaErrorLaunchFailure, [&] {
      return "for_each_canceled_block<" + std::to_string(rank) + "> at " + describe(at) +
             " in a block of more dimensions than that";
    });
  }
  if (thread_rank() != 0) return;
  if (stealing_) {
    fail(cudaErrorLaunchFailure, [&] {
      return "for_each_canceled_block is called a second time by one block, at " + describe(at);
    });
  }
  stealing_ = true;
}

bool multiprocessor::steal_block(uint3& index, const place& at) {
#ifdef CPU_BACKEND_OBSERVED
  constexpr bool orders_memory = false;  // CUDA promises none, so programs must not rely on it
  block_barrier(at, orders_memory);
  if (thread_rank() == 0) stole_ = grid_->take_block(stolen_);
  block_barrier(at, orders_memory);
#else
  block_barrier(at);
  if (thread_rank() == 0) stole_ = grid_->take_block(stolen_);
  block_barrier(at);
#endif
  index = stolen_;
  return stole_;
}

// ---- waiting for another thread by reading memory again and again

// A thread that is in the same state as when it last had its turn, its own variables and what it
// has just read alike, will go on like that until another thread changes memory. One that counts,
// or works between two looks, differs; it is never slowed down, and never taken for a deadlock.
void multiprocessor::let_others_run(const place& at) {
  fruitless_ = 0;
  current_->reason = wait_reason::spinning;
  current_->waits_at = at;
  if (grid_->failed()) abandon_block();
#ifdef CPU_BACKEND_OBSERVED
  note_turn(noted_state_);
  const bool idle = all_repeat_themselves();
  if (idle || schedule::current().interrupts_block()) give_turn_back(idle);
#else
  const std::uint64_t state = private_state();
  std::uint64_t& last_state = states_at_last_turn_[current_->own.stack->index];
  repeated_turns_ = state == last_state ? repeated_turns_ + 1 : 0;
  last_state = state;
  if (repeated_turns_ > 2 * running_) back_off();
#endif
  if (unstarted_thread() == threads_ && runnable_.empty()) return;
  runnable_.push(current_);
  wait(wait_reason::spinning, at);
  if (grid_->failed()) abandon_block();
}

namespace {

// Reads stacks across the red zones that AddressSanitizer puts between variables.
__attribute__((no_sanitize("address"))) std::uint64_t hash_of(std::uint64_t hash, const void* begin,
                                                              const void* end) {
  const auto* last = static_cast<const std::uint64_t*>(end);
  for (auto* word = static_cast<const std::uint64_t*>(begin); word < last; ++word) {
    hash = (std::rotl(hash, 5) ^ *word) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

}  // namespace

#ifdef CPU_BACKEND_OBSERVED
void multiprocessor::note_state(const void* frame) {
  if (fruitless_ + 1 < fruitless_limit) return;
  constexpr std::ptrdiff_t saved_registers = 5 * sizeof(void*);
  noted_state_ = hash_of(0, static_cast<const std::byte*>(frame) - saved_registers,
                         current_->own.stack->bottom + current_->own.stack->bytes);
}

#else

// A hash of the registers and of the stack of the thread that runs now.
__attribute__((noinline)) std::uint64_t multiprocessor::private_state() const {
  jmp_buf registers;
  std::memset(&registers, 0, sizeof registers);
  if (_setjmp(registers) != 0) __builtin_unreachable();  // nobody jumps back
  const std::uint64_t hash = hash_of(0, &registers, &registers + 1);
  return hash_of(hash, __builtin_frame_address(0),
                 current_->own.stack->bottom + current_->own.stack->bytes);
}

// Leaves the processor to the other blocks, ever longer, so that waiting does not burn a core.
// Not inlined: its variables must not be in the frame of let_others_run, whose state is compared.
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
#endif

// ---- failure

bool multiprocessor::is_first_failure(cudaError_t error) { return grid_->fail_first(error); }

void multiprocessor::report_thread(const std::string& message) const {
  report_block(describe(threadIdx) + ": " + message);
}

void multiprocessor::report_block(const std::string& message) const {
  report(*grid_, describe_block(blockIdx) + ", " + message);
}

void multiprocessor::abandon_running_thread() {
  current_->reason = wait_reason::none;
  abandon_block();
}

void multiprocessor::abandon_block() {
  resident_thread& self = *current_;
  if (grid_->describe_on_abandon.load(std::memory_order_relaxed)) {
    std::string text = "  " + describe_block(blockIdx) + ":\n" + describe_waiting_threads();
    if (self.reason == wait_reason::none) text += "  " + describe(threadIdx) + " runs\n";
    std::fputs(text.c_str(), stderr);
  }
  abandon_fiber(self.own, os_thread_);
  __builtin_unreachable();
}

void multiprocessor::forget_block() {
  running_ = arrived_ = counted_ = 0;
#ifdef CPU_BACKEND_OBSERVED
  in_meetings_ = 0;
#endif
  next_to_start(threads_);
  progressed();
  at_barrier_.clear();
  runnable_.clear();
  for (auto& of : warps_) of.open.clear();
  free_meetings_.clear();
  for (auto& meeting : meetings_) free_meetings_.push_back(&meeting);
  idle_.clear();
  for (auto& of : fibers_) {
    restart_fiber(of.own, fiber_entry);
    of.reason = wait_reason::none;
    idle_.push_front(&of);
  }
}

std::string multiprocessor::describe_waiting_threads() const {
  struct group {
    uint3 first{};
    unsigned threads = 0;
  };
  std::map<std::tuple<wait_reason, std::string>, group> groups;
  for (const resident_thread& thread : fibers_) {
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
