// SPDX-License-Identifier: MIT
// How one streaming multiprocessor, which holds one resident block at a time, runs that block's
// threads to completion on fibers: a fiber takes the first thread that has not started, and when
// that returns the next one, so a block whose threads never wait needs one fiber. A thread that has
// to wait keeps its fiber, and another fiber goes on.
//
// This is what both forms of the backend share. Each adds the rest in its class multiprocessor
// (cpu_backend/multiprocessor.hpp, which the include path chooses): where blocks come from, when
// a thread or a block gives its turn to another, and what is done about threads that wait by
// looking at memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/execution/resident_threads.hpp"
#include "cpu_backend/fibers/fiber.hpp"
#include "cpu_backend/form.hpp"
#include "driver_types.h"
#include "vector_types.h"

// An OS thread's variable that stands before those of the program: an index that runs past the end
// of a __shared__ variable does not come to it.
#define CPU_BACKEND_BEFORE_SHARED __attribute__((section(".tdata")))

// `__thread` and not `thread_local`: a kernel's innermost loop reads these, and must not ask first
// whether they are initialised.
extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
inline constexpr int warpSize = 32;

namespace cpu_backend {

struct grid;
struct call_stack;
struct kernel_fault;
class diagnostic;
class multiprocessor;

// The multiprocessor that the calling OS thread plays; nullptr on a host thread.
extern __thread multiprocessor* this_multiprocessor;

// Whether a kernel runs: which of its two bodies a `__host__ __device__` function takes that
// __CUDA_ARCH__ gives two.
constexpr bool on_device() {
  return !__builtin_is_constant_evaluated() && this_multiprocessor != nullptr;
}

// The calling multiprocessor, for device functions: one that a host thread calls ends the program
// with one sentence.
multiprocessor& calling_multiprocessor(const char* function, const place& at);
inline multiprocessor& in_kernel(const char* function, const place& at) {
  form::used("device", function, &at);
  if (this_multiprocessor) [[likely]]
    return *this_multiprocessor;
  return calling_multiprocessor(function, at);
}

// All member functions are called by the OS thread that plays this multiprocessor, and by no other,
// unless they say otherwise.
class block_execution {
 public:
  explicit block_execution(unsigned number);
  block_execution(const block_execution&) = delete;
  block_execution& operator=(const block_execution&) = delete;

  unsigned number() const { return number_; }
  grid& running_grid() const { return *grid_; }
  std::byte* dynamic_shared_memory() const { return dynamic_shared_memory_; }
  // On both sides of it, where nothing may be touched.
  static constexpr std::size_t around_shared_memory = std::size_t{1} << 20;
  unsigned threads() const { return threads_; }

  // The rank within its block of the thread that runs now.
  unsigned thread_rank() const {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }

  // ---- Synchronisation within the block.

  // __syncthreads(): all threads of the block that have not returned. A barrier that does not order
  // memory is one inside the backend, which CUDA does not promise: the scheduled form says so.
  void block_barrier(place at, bool orders_memory = true);
  // The same, and returns how many threads came with `condition`; `participants` is how many came.
  unsigned block_barrier_count(const place& at, bool condition, unsigned* participants);

  // Meets the lanes of `mask` that have not returned, all of which must come with the same
  // operation and mask. Lane i's deposit is then value[i], until the caller calls leave().
  warp_meeting& meet(unsigned mask, std::uint64_t value, const char* operation, const place& at);
  void leave(warp_meeting& meeting) { warps_.leave(meeting, thread_rank() % warp_size); }

  // Work stealing, for every thread of the block: checks the preconditions; cancels one block that
  // has not started, and gives its index, or returns false.
  void begin_stealing(int rank, const place& at);
  bool steal_block(uint3& index, const place& at);

  // Whether the thread of this rank has begun and returned. (Once any thread of the block has
  // waited.)
  bool has_returned(unsigned rank) const {
    return rank < threads_ && warps_.has_returned(rank / warp_size, rank % warp_size);
  }

  // ---- Waiting by looking at memory again and again.

  // What an atomic operation or a fence reports: whether it changed memory. A thread that changes
  // nothing again and again may be waiting for another thread, and lets that one run.
  void progressed();
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
  // __nanosleep()
  void sleep(const place& at);

  // ---- Failure.

  // Ends the block and the launch, which fails with `error`; reports what `make_record()` returns,
  // with the thread that it is about. Called by the thread at fault. No frame of that thread is
  // unwound, hence the function: its strings are gone before the thread is.
  template <class Diagnostic>
  [[noreturn, gnu::cold]] void fail(cudaError_t error, Diagnostic make_record) {
    if (is_first_failure(error)) report_thread_failure(make_record());
    abandon_running_thread();
  }
  // The same for what is put into words once the launch is over; fills in who it is about.
  [[noreturn, gnu::cold]] void fail(const kernel_fault& fault);
  // The same for device functions in headers, which make no records: one of this kind.
  [[noreturn, gnu::cold]] void fail_as(const char* kind, const place& at,
                                       const char* operation = "", long long number = 0);
  // The launch has failed because it did not end: ends the block, and the first thread that comes
  // here is the one whose place is told. `calls`: where it is.
  [[noreturn, gnu::cold]] void stop(const call_stack& calls);
  // Ends the block without a word, because the launch has failed elsewhere.
  [[noreturn, gnu::cold]] void abandon_block();
  // The same, where the thread that runs now does not wait for anything.
  [[noreturn, gnu::cold]] void abandon_running_thread();

  // ---- For run_threads alone: which thread is next, and what to do when one has returned.

  // The rank of the first thread that has not started. In the concurrent form only once a thread of
  // the block waits; until then a row's threads start uncounted, and this is behind.
  unsigned unstarted_thread() const { return unstarted_thread_.load(std::memory_order_relaxed); }
  bool anything_waited() const { return anything_waited_.load(std::memory_order_relaxed); }
  void returned(unsigned rank);
  // Makes the first thread that has not started the one that runs; false if there is none.
  __attribute__((always_inline)) bool start_next() {
    const unsigned rank = unstarted_thread();
    if (rank >= threads_) return false;
    next_to_start(rank + 1);
    if (blockDim.y == 1 && blockDim.z == 1) {
      threadIdx = {rank, 0, 0};
    } else {
      const unsigned row = rank / blockDim.x;
      threadIdx = {rank % blockDim.x, row % blockDim.y, row / blockDim.y};
    }
    return true;
  }
  // Threads have started uncounted, up to the one that runs now, or to the end of its row.
  void count_started() {
    const unsigned last = runs_whole_rows_ ? blockDim.x - 1 : threadIdx.x;
    next_to_start(thread_rank() - threadIdx.x + last + 1);
  }
  // The call of the kernel that begins with the thread that runs now runs its row to the end.
  void run_whole_row() {
    runs_whole_rows_ = true;
    if (anything_waited()) [[unlikely]]
      count_started();
  }
  // No thread of the block is left to start: finds the fiber new ones. Returns when there are some,
  // and true if they are of that same launch.
  __attribute__((always_inline)) bool find_threads(std::uint64_t launch) {
    resident_thread& self = *current_;
    if (fiber* other = other_fiber_to_run()) switch_fiber(self.own, *other);
    return launch_number() == launch;
  }
  std::uint64_t launch_number() const;
  bool is_cooperative() const;

  // ---- Called from signal handlers and by the host thread that launched, too.

  bool holds_block() const { return holds_block_.load(std::memory_order_relaxed); }
  // Grows when a thread returns, a barrier opens, a block begins: in short, when something is
  // achieved.
  std::uint64_t events() const {
    std::uint64_t started = unstarted_thread();
    if (!anything_waited()) {
      started +=
          __atomic_load_n(&thread_index_.load(std::memory_order_relaxed)->x, __ATOMIC_RELAXED);
    }
    return events_.load(std::memory_order_relaxed) + started;
  }
  bool is_stack_overflow(const void* address) const {
    return current_ && in_guard_page(current_->own, address);
  }

 protected:
  static constexpr unsigned fruitless_limit = 16;

  // The launch fails, and this block has ended: says so, if it is the first.
  void fail_block(cudaError_t error, diagnostic of);
  // Takes the multiprocessor's shape from a launch.
  void prepare(grid& of);
  // One line for each place at which threads of the resident block wait.
  std::vector<diagnostic> waiting_threads(const uint3& block) const;
  void forget_block();

  // Leaves the current thread where it is, queued as it may be, and returns when it is its turn
  // again.
  void go_on_with_another();
  // The block's last thread has returned. True if the fiber goes on with the next block.
  bool next_block_begins();

  resident_thread* next_runnable();
  void note_wait(wait_reason reason, const place& at) {
    if (!anything_waited()) first_wait();
    current_->reason = reason;
    current_->waits_at = at;
  }
  void wait(wait_reason reason, const place& at) {
    note_wait(reason, at);
    go_on_with_another();
  }
  void wait_at_barrier(place at);
  void come_to_another_barrier(place at);
  void open_barrier();
  void ask_for_a_block();
  void take_the_answer();
  bool all_have_started() const { return unstarted_thread() == threads_; }
  void next_to_start(unsigned rank) { unstarted_thread_.store(rank, std::memory_order_relaxed); }
  // Only this OS thread counts, so this need not be an atomic addition.
  static void count(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const unsigned number_;
  std::byte* dynamic_shared_memory_ = nullptr;
  grid* grid_ = nullptr;

  // The resident block.
  unsigned threads_ = 0;
  std::atomic<unsigned> unstarted_thread_ = 0;  // rank of the first that has not begun
  unsigned running_ = 0;    // fibers that hold a thread of the block, waiting ones included
  unsigned fruitless_ = 0;  // atomics and fences in a row that changed nothing
  std::atomic<bool> anything_waited_ = false;  // since the block began
  bool runs_whole_rows_ = false;               // in this launch
  // threadIdx of the OS thread that plays this multiprocessor. It writes it plainly; another thread
  // that looks only asks whether it changes.
  static constexpr uint3 no_thread{};
  std::atomic<const uint3*> thread_index_ = &no_thread;
  resident_thread* current_ = nullptr;
  thread_queue runnable_;
  barrier barrier_;
  struct {
    bool begun = false;
    bool asks = false;  // the barrier that the block's threads come to is that of steal_block()
    bool has_block = false;
    uint3 index{};
    bool has_reserve = false;  // the answer to the request before the tile that is worked on
    uint3 reserve{};
  } stealing_;
  warp_meetings warps_;

  fiber os_thread_;
  fiber_stack os_thread_stack_;
  fiber_pool fibers_{fiber_entry};

  std::atomic<std::uint64_t> events_ = 0;
  std::atomic<bool> holds_block_ = false;

 private:
  static void fiber_entry();

  void run_fiber();
  bool run_threads();
  fiber* other_fiber_to_run();
  [[noreturn, gnu::cold]] void fail_as_stuck();
  void first_wait();
  void open_barrier_if_all_wait();
  void check_same_operation(const warp_meeting& meeting, const char* operation, const place& at);
  bool close_if_complete(unsigned warp, warp_meeting& meeting);
  bool is_first_failure(cudaError_t error);
  void report_thread_failure(diagnostic of) const;

  std::string exception_;  // what the exception that left a kernel said
};

// Meets all blocks of a cooperative launch. Called by one thread of each block, while the block's
// others wait for it at the block's barrier.
void grid_barrier(multiprocessor& of, const place& at);

}  // namespace cpu_backend
