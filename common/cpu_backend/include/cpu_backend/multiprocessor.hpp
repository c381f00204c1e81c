// SPDX-License-Identifier: MIT
// One OS thread plays one streaming multiprocessor. It holds one resident block at a time and runs
// that block's threads to completion on fibers: a fiber takes the first thread that has not
// started, and when that returns the next one, so a block whose threads never wait needs one fiber.
// A thread that has to wait keeps its fiber, and another fiber goes on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "cpu_backend/fiber.hpp"
#include "cpu_backend/place.hpp"
#include "driver_types.h"
#include "vector_types.h"

// `__thread` and not `thread_local`: a kernel's innermost loop reads these, and must not ask first
// whether they are initialised.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
inline constexpr int warpSize = 32;

namespace cpu_backend {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned max_threads_per_block = 1024;

struct grid;

enum class wait_reason { none, block_barrier, warp, spinning };

// A fiber and the CUDA thread that it holds. What a barrier touches comes first and fills one line
// of the cache, since a block has up to a thousand of these.
struct alignas(64) resident_thread {
  place waits_at{};
  uint3 index{};
  wait_reason reason = wait_reason::none;
  resident_thread* behind = nullptr;  // the next in the queue that this one stands in
  fiber own;
};

// First in, first out. A thread stands in at most one queue.
class thread_queue {
 public:
  bool empty() const { return !first_; }
  resident_thread* first() const { return first_; }
  void clear() { first_ = nullptr; }
  void push_front(resident_thread* thread) {
    if (!first_) last_ = thread;
    thread->behind = first_;
    first_ = thread;
  }
  void push(resident_thread* thread) {
    thread->behind = nullptr;
    (first_ ? last_->behind : first_) = thread;
    last_ = thread;
  }
  resident_thread* pop() {
    resident_thread* thread = first_;
    first_ = thread->behind;
    return thread;
  }
  // Takes all of `other`, in its order.
  void append(thread_queue& other) {
    if (other.empty()) return;
    (first_ ? last_->behind : first_) = other.first_;
    last_ = other.last_;
    other.clear();
  }

 private:
  resident_thread* first_ = nullptr;
  resident_thread* last_ = nullptr;
};

// Lanes of one warp that wait for each other. A warp can have several, for different masks.
struct warp_meeting {
  unsigned mask = 0;
  unsigned arrived = 0;
  unsigned left = 0;
  const char* operation = nullptr;  // "__shfl_sync()", ...
  place first_place{};
  std::uint64_t value[warp_size]{};
  resident_thread* waiter[warp_size]{};
};

class multiprocessor {
 public:
  explicit multiprocessor(unsigned number);
  multiprocessor(const multiprocessor&) = delete;
  multiprocessor& operator=(const multiprocessor&) = delete;

  // Runs blocks of `of` until none is left to start or the launch has failed. Called by the OS
  // thread that plays this multiprocessor, and by no other; so is everything below unless it says
  // otherwise.
  void run(grid& of);

  unsigned number() const { return number_; }
  grid& running_grid() const { return *grid_; }
  std::byte* dynamic_shared_memory() const { return dynamic_shared_memory_; }
  unsigned threads() const { return threads_; }

  // The rank within its block of the thread that runs now.
  unsigned thread_rank() const {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }

  // __syncthreads(): all threads of the block that have not returned.
#ifdef CPU_BACKEND_OBSERVED
  void block_barrier(place at, bool orders_memory = true);
#else
  __attribute__((always_inline)) void block_barrier(place at) {
    if (!at.surely_same(barrier_place_)) come_to_another_barrier(at);
    if (++arrived_ == running_ && unstarted_thread() == threads_) {
      open_barrier();
      return;
    }
    wait_at_barrier(at);
    go_on_with_another();
  }
#endif

  // The same, and returns how many threads came with `condition`; `participants` is how many came.
  unsigned block_barrier_count(const place& at, bool condition, unsigned* participants);

  // Meets the lanes of `mask` that have not returned, all of which must come with the same
  // operation and mask. Lane i's deposit is then value[i], until the caller calls leave().
  warp_meeting& meet(unsigned mask, std::uint64_t value, const char* operation, const place& at);
  void leave(warp_meeting& meeting);

  // Work stealing, for every thread of the block: checks the preconditions; cancels one block that
  // has not started, and gives its index, or returns false.
  void begin_stealing(int rank, const place& at);
  bool steal_block(uint3& index, const place& at);

  // What an atomic operation or a fence reports: whether it changed memory. A thread that changes
  // nothing again and again may be waiting for another thread, and lets that one run.
  void progressed() {
    fruitless_ = repeated_turns_ = 0;
#ifdef CPU_BACKEND_OBSERVED
    changed_memory();
#endif
  }
  void fruitless(const place& at) {
    ++fruitless_;
    // At one and the same place of a loop, so that its turns can be compared; unless it has moved
    // on.
    if (fruitless_ >= fruitless_limit &&
        (at.surely_same(current_->waits_at) || fruitless_ >= 4 * fruitless_limit)) {
      let_others_run(at);
    }
  }
  void let_others_run(const place& at);
#ifdef CPU_BACKEND_OBSERVED
  void sleep(const place& at);
#else
  void sleep(const place& at) { let_others_run(at); }
#endif

  // Ends the block and the launch, which fails with `error`; prints what `message()` returns, with
  // the thread that it is about. Called by the thread at fault. No frame of that thread is unwound,
  // hence the function: its strings are gone before the thread is.
  template <class Message>
  [[noreturn, gnu::cold]] void fail(cudaError_t error, Message message) {
    if (is_first_failure(error)) report_thread(message());
    abandon_running_thread();
  }

  // Ends the block without a word, because the launch has failed elsewhere.
  [[noreturn, gnu::cold]] void abandon_block();
  // The same, where the thread that runs now does not wait for anything.
  [[noreturn, gnu::cold]] void abandon_running_thread();

  // For run_threads alone: which thread is next, and what to do when one has returned.
  unsigned unstarted_thread() const { return unstarted_thread_.load(std::memory_order_relaxed); }
  void starts(unsigned rank) { next_to_start(rank + 1); }
  bool anything_waited() const { return anything_waited_; }
  void returned(unsigned rank);
  // No thread of the block is left to start: finds the fiber new ones. Returns when there are some,
  // and true if they are of that same launch.
  __attribute__((always_inline)) bool find_threads(std::uint64_t launch) {
    resident_thread& self = *current_;
    if (fiber* other = other_fiber_to_run()) switch_fiber(self.own, *other);
    return calling_thread().launch_number() == launch;
  }
  std::uint64_t launch_number() const;

#ifdef CPU_BACKEND_OBSERVED
  // The observed form: one OS thread plays all multiprocessors in turn. See conductor.hpp.
  void begin(grid& of);
  // Goes on with the resident block, or with the next of the grid, until that gives the turn back.
  // False where there is neither.
  bool take_turn();
  // True if the last turn changed nothing and ended where all of the block's threads wait.
  bool was_idle() const { return turn_was_idle_ && !changed_memory_; }
  // Others that wait may see it.
  void changed_memory() {
    changed_memory_ = true;
    ++memory_changes_;
  }
  bool has_block() const { return has_block_; }
  std::uint64_t block() const { return block_; }
  // After the launch; forgets the block that a failed one left.
  void end();
  std::string describe_block_that_waits() const;

  // Called by the running thread. Starts one of the threads that have not begun, in the
  // schedule's order, and returns its rank.
  unsigned start_thread();
  // First thing in a function that a waiting thread may call again and again, with that function's
  // frame: remembers what the thread itself holds. (The frames of the backend and the observer
  // below it hold the leavings of other work.) The function must have saved all registers in its
  // frame.
  void note_state(const void* frame);
  // Here the schedule may let another thread of the block go on, or another block.
  void switch_point(const place& at);
  // Lets other blocks go on; returns when it is this one's turn again.
  void give_turn_back(bool idle);
  // A __shared__ variable, at each execution of its declaration.
  void use_shared_variable(void* address, std::size_t bytes, const char* name, const char* type);
#endif

  // Called from signal handlers and by the host thread that launched.
  bool holds_block() const { return holds_block_.load(std::memory_order_relaxed); }
  bool waits_for_grid() const { return waits_for_grid_.load(std::memory_order_relaxed); }
  void waits_for_grid(bool waits) { waits_for_grid_.store(waits, std::memory_order_relaxed); }
  // Grows when a thread returns, a barrier opens, a block begins: in short, when something is
  // achieved.
  std::uint64_t events() const {
    return events_.load(std::memory_order_relaxed) + unstarted_thread();
  }
  // Grows while no thread of the block can do anything unless another block changes memory.
  std::uint64_t idle_turns() const { return idle_turns_.load(std::memory_order_relaxed); }
  bool is_stack_overflow(const void* address) const {
    return current_ && in_guard_page(current_->own, address);
  }

 private:
  // One line for each place at which threads of the resident block wait.
  std::string describe_waiting_threads() const;
  static constexpr unsigned fruitless_limit = 16;
  static void fiber_entry();

  static multiprocessor& calling_thread();

  // Leaves the current thread where it is, queued as it may be, and returns when it is its turn
  // again.
  //
  // What switches is inlined into the kernel: a processor predicts that a `ret` returns to the last
  // call, and after a switch that call was another fiber's. In a function of its own, the switch
  // cost three wrong predictions for each thread, which was more than all the rest.
#ifdef CPU_BACKEND_OBSERVED
  void go_on_with_another();
  void note_turn(std::uint64_t state);
  bool all_repeat_themselves() const;
  void restore_shared_variables();
  void save_shared_variables();
#else
  __attribute__((always_inline)) void go_on_with_another() {
    resident_thread& self = *current_;
    self.index = threadIdx;
    resident_thread* next = next_runnable();
    if (next == &self) return;
    current_ = next;
    switch_fiber(self.own, next->own);
    threadIdx = calling_thread().current_->index;
  }
#endif

  void run_fiber();
  fiber* other_fiber_to_run();
  bool run_threads();
  bool take_block();
  resident_thread* idle_fiber();
  resident_thread* next_runnable();
  resident_thread* new_fiber();
  [[noreturn, gnu::cold]] void report_stuck();
  void first_wait();
  void note_wait(wait_reason reason, const place& at);
  void wait(wait_reason reason, const place& at);
  void wait_at_barrier(place at);
  void open_barrier();
  void open_barrier_if_all_wait();
  void come_to_another_barrier(place at);
  void check_same_operation(const warp_meeting& meeting, const char* operation, const place& at);
  bool complete_if_all_came(unsigned warp, warp_meeting& meeting);
#ifndef CPU_BACKEND_OBSERVED
  void back_off();
  std::uint64_t private_state() const;
#endif
  void forget_block();
  bool is_first_failure(cudaError_t error);
  void report_thread(const std::string& message) const;
  void report_block(const std::string& message) const;
  void next_to_start(unsigned rank) { unstarted_thread_.store(rank, std::memory_order_relaxed); }
  // Only this OS thread counts, so this need not be an atomic addition.
  static void count(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const unsigned number_;
  std::byte* dynamic_shared_memory_ = nullptr;
  fiber os_thread_;
  fiber_stack os_thread_stack_;
  grid* grid_ = nullptr;

  unsigned threads_ = 0;                        // of the resident block
  std::atomic<unsigned> unstarted_thread_ = 0;  // rank of the first that has not begun
  unsigned running_ = 0;          // fibers that hold a thread of the block, waiting ones included
  unsigned arrived_ = 0;          // at the block's barrier
  bool anything_waited_ = false;  // since the block began
  place barrier_place_{};
  unsigned counted_ = 0;
  unsigned counted_at_last_barrier_ = 0;
  unsigned participants_of_last_barrier_ = 0;

  bool stealing_ = false;
  bool stole_ = false;
  uint3 stolen_{};

  unsigned fruitless_ = 0;
  unsigned repeated_turns_ = 0;  // of threads that had seen and held exactly the same before

  std::string exception_;  // what the exception that left a kernel said
  resident_thread* current_ = nullptr;
  std::deque<resident_thread> fibers_;
  std::deque<fiber_stack> stacks_;                  // of the fiber with the same number
  std::vector<std::uint64_t> states_at_last_turn_;  // likewise: see let_others_run
  thread_queue idle_;
  thread_queue at_barrier_;
  thread_queue runnable_;

  struct warp {
    unsigned returned = 0;  // lanes that are gone, and lanes that the block never had
    std::vector<warp_meeting*> open;
  };
  warp warps_[max_threads_per_block / warp_size];
  std::deque<warp_meeting> meetings_;
  std::vector<warp_meeting*> free_meetings_;

#ifdef CPU_BACKEND_OBSERVED
  struct shared_variable {
    void* address;
    std::vector<std::byte> image;  // its bytes while another block is resident
  };
  std::uint64_t block_ = 0;  // its number in the grid
  uint3 block_index_{};
  bool has_block_ = false;
  bool turn_was_idle_ = false;
  bool changed_memory_ = false;  // in this turn
  std::uint64_t noted_state_ = 0;
  // Of all blocks, so that a thread that waits counts as doing so only if it has looked since.
  static inline std::uint64_t memory_changes_ = 0;
  struct turns {
    std::uint64_t state = 0;  // in which the thread ended its last turn
    std::uint64_t since = 0;  // memory changes
    unsigned repeated = 0;    // turns since then that ended in this state
  };
  std::vector<turns> turns_;  // of the fiber with the same number
  std::uint64_t repeating_since_ = 0;
  unsigned repeating_ = 0;    // threads with two such turns
  unsigned in_meetings_ = 0;  // threads that wait for other lanes
  std::vector<std::uint16_t> start_order_;
  std::vector<shared_variable> shared_variables_;
#endif

  std::atomic<std::uint64_t> events_ = 0;
  std::atomic<std::uint64_t> idle_turns_ = 0;
  std::atomic<bool> waits_for_grid_ = false;
  std::atomic<bool> holds_block_ = false;
};

// The multiprocessor that the calling OS thread plays; nullptr on a host thread.
extern __thread multiprocessor* this_multiprocessor;

inline multiprocessor& multiprocessor::calling_thread() { return *this_multiprocessor; }

// The same, for device functions: one that a host thread calls ends the program with one sentence.
multiprocessor& calling_multiprocessor(const char* function, const place& at);
inline multiprocessor& in_kernel(const char* function, const place& at) {
  if (this_multiprocessor) [[likely]]
    return *this_multiprocessor;
  return calling_multiprocessor(function, at);
}

}  // namespace cpu_backend
