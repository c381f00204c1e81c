// SPDX-License-Identifier: MIT
// The threads of a block: which one runs, which goes on when one waits or has returned, and where
// they wait for each other.
#include "cpu_backend/execution/block_execution.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/resident_threads.hpp"
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

// Where the threads of a block wait for each other: the block's barrier, the meetings of its warps,
// and work stealing.

// ---- The block's barrier

void block_execution::wait_at_barrier(place at) {
  note_wait(wait_reason::block_barrier, at);
  barrier_.wait(current_);
}

void block_execution::open_barrier() {
  if (stealing_.asks) take_the_answer();
  observer::barrier_opens(barrier_.called_from());
  form::reorder(barrier_.waiting());
  barrier_.open(runnable_);
  count(events_);
  progressed();
}

void block_execution::open_barrier_if_all_wait() {
  if (barrier_.arrived() != 0 && barrier_.arrived() == running_ && all_have_started()) {
    open_barrier();
  }
}

unsigned block_execution::block_barrier_count(const place& at, bool condition,
                                              unsigned* participants) {
  barrier_.count(condition);
  block_barrier(at);
  if (participants) *participants = barrier_.participants_of_last();
  return barrier_.counted_at_last();
}

// The place differs from that of the arrival before: right for the first of a new barrier, and only
// then.
void block_execution::come_to_another_barrier(place at) {
  if (barrier_.arrived() == 0) {
    barrier_.move_to(at);
  } else if (!(at == barrier_.called_from())) {
    fail(cudaErrorLaunchFailure, [&] {
      const resident_thread& other = *barrier_.waiting().first();
      const bool on_one_line = at.line() == other.waits_at.line() &&
                               std::string_view(at.file()) == other.waits_at.file();
      return diagnostic(on_one_line ? "different_barriers_of_one_line" : "different_barriers")
          .add("at", at)
          .add("other_thread", other.index)
          .add("other_at", other.waits_at);
    });
  }
}

// ---- The warps' meetings

warp_meeting& block_execution::meet(unsigned mask, std::uint64_t value, const char* operation,
                                    const place& at) {
  const unsigned rank = thread_rank();
  const unsigned warp = rank / warp_size;
  const unsigned lane = rank % warp_size;
  if (!anything_waited()) first_wait();
  if (!(mask >> lane & 1)) {
    fail(cudaErrorLaunchFailure, [&] {
      return diagnostic("lane_not_in_mask")
          .add("operation", operation)
          .add("at", at)
          .add("lane", lane);
    });
  }
  warp_meeting* meeting = warps_.find(warp, mask);
  if (meeting) {
    check_same_operation(*meeting, operation, at);
  } else {
    meeting = &warps_.open(warp, mask, operation, at);
  }
  meeting->arrived |= 1u << lane;
  meeting->value[lane] = value;
  if (!close_if_complete(warp, *meeting)) {
    warps_.wait(*meeting, lane, current_);
    wait(wait_reason::warp, at);
  }
  return *meeting;
}

void block_execution::check_same_operation(const warp_meeting& meeting, const char* operation,
                                           const place& at) {
  if (std::string_view(meeting.operation) == operation) return;
  fail(cudaErrorLaunchFailure, [&] {
    return diagnostic("different_warp_operations")
        .add("operation", operation)
        .add("at", at)
        .add("other_operation", meeting.operation)
        .add("other_at", meeting.first_place);
  });
}

bool block_execution::close_if_complete(unsigned warp, warp_meeting& meeting) {
  if (!warps_.close_if_complete(warp, meeting, runnable_)) return false;
  observer::lanes_converge(warp * warp_size, meeting.arrived,
                           std::string_view(meeting.operation) == "__syncwarp()",
                           meeting.first_place);
  count(events_);
  progressed();
  return true;
}

// ---- Work stealing

void block_execution::begin_stealing(int rank, const place& at) {
  if ((rank < 3 && blockDim.z > 1) || (rank < 2 && blockDim.y > 1)) {
    fail(cudaErrorLaunchFailure, [&] {
      return diagnostic("stealing_of_fewer_dimensions").add("rank", rank).add("at", at);
    });
  }
  if (thread_rank() != 0) return;
  if (stealing_.begun) {
    fail(cudaErrorLaunchFailure, [&] { return diagnostic("stealing_twice").add("at", at); });
  }
  stealing_.begun = true;
  ask_for_a_block();
}

// As libcu++ does, the next block is asked for before the function is called: while a block works
// on one tile, it holds another one in reserve, which no other block can take. One barrier for each
// tile, where a second one would double its price. The thread that opens it reads the answer and
// asks again: then all threads are done with the tile, and have read the last answer.

bool block_execution::steal_block(uint3& index, const place& at) {
  constexpr bool orders_memory = false;  // CUDA promises none, so programs must not rely on it
  stealing_.asks = true;
  block_barrier(at, orders_memory);
  index = stealing_.index;
  return stealing_.has_block;
}

void block_execution::take_the_answer() {
  stealing_.asks = false;
  stealing_.has_block = stealing_.has_reserve;
  stealing_.index = stealing_.reserve;
  if (stealing_.has_block) ask_for_a_block();
}

void block_execution::ask_for_a_block() {
  stealing_.has_reserve = grid_->take_block(stealing_.reserve);
}

void warp_meetings::begin_block(unsigned first_present, unsigned threads) {
  waiting_ = 0;
  for (unsigned first = 0, index = 0; first < threads; first += warp_size, ++index) {
    const auto lanes_below = [&](unsigned end) {
      return end <= first ? 0u : end >= first + warp_size ? ~0u : (1u << (end - first)) - 1;
    };
    warps_[index].returned = lanes_below(first_present) | ~lanes_below(threads);
  }
}

warp_meeting& warp_meetings::open(unsigned warp, unsigned mask, const char* operation,
                                  const place& at) {
  [[maybe_unused]] const observer::runtime_access now;
  if (free_.empty()) free_.push_back(&meetings_.emplace_back());
  free_.reserve(meetings_.size());  // leave(), which is inlined into kernels, takes no memory
  warp_meeting& meeting = *free_.back();
  free_.pop_back();
  meeting.mask = mask;
  meeting.arrived = meeting.left = 0;
  meeting.operation = operation;
  meeting.first_place = at;
  warps_[warp].open.push_back(&meeting);
  return meeting;
}

void warp_meetings::close(unsigned warp, warp_meeting& meeting, thread_queue& runnable) {
  [[maybe_unused]] const observer::runtime_access now;
  std::erase(warps_[warp].open, &meeting);
  thread_queue met;
  for (resident_thread*& waiter : meeting.waiter) {
    if (!waiter) continue;
    met.push(waiter);
    waiter = nullptr;
    --waiting_;
  }
  if (form::lets_warp_run_ahead()) {
    runnable.prepend(met);
  } else {
    runnable.append(met);
  }
}

void warp_meetings::clear() {
  waiting_ = 0;
  for (auto& of : warps_) of.open.clear();
  free_.clear();
  for (auto& meeting : meetings_) {
    std::fill(std::begin(meeting.waiter), std::end(meeting.waiter), nullptr);
    free_.push_back(&meeting);
  }
}

bool warp_meetings::hold(const void* address) const {
  const auto holds = [&](const auto* begin, std::size_t count) {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto offset = static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(begin));
    return offset < count * sizeof *begin;
  };
  return holds(free_.data(), free_.capacity()) ||
         std::any_of(meetings_.begin(), meetings_.end(),
                     [&](const warp_meeting& each) { return holds(&each, 1); });
}

fiber_pool::fiber_pool(void (*entry)()) : entry_(entry) {}

resident_thread* fiber_pool::make() {
  const auto number = static_cast<unsigned>(fibers_.size());
  resident_thread& made = fibers_.emplace_back();
  create_fiber(made.own, stacks_.emplace_back(), entry_, number);
  return &made;
}

void fiber_pool::restart_all() {
  idle_.clear();
  for (resident_thread& each : fibers_) {
    restart_fiber(each.own, entry_);
    each.reason = wait_reason::none;
    idle_.push_front(&each);
  }
}

}  // namespace cpu_backend
