// SPDX-License-Identifier: MIT
// The concurrent form: one OS thread plays one streaming multiprocessor, and runs the threads of a
// block one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu_backend/execution/block_execution.hpp"
#include "vector_types.h"

namespace cpu_backend {

// ---- What notices that a kernel runs out of shared memory: a few words right behind it, which are
// looked at when a block ends, and pages farther on that can't be touched. It costs nothing else,
// and so sees writes that run past the end, and not which variable they ran out of: racecheck says
// that.

// Words that hold a pattern until a write past a variable changes them.
struct canary {
  static constexpr std::uint64_t untouched = 0xC0FFEE15DEADBEEFu;
  static constexpr std::size_t count = 4;
  std::uint64_t words[count];

  void restore() {
    for (std::uint64_t& word : words) word = untouched;
  }
  bool is_untouched() const {
    std::uint64_t changed = 0;
    for (const std::uint64_t word : words) changed |= word ^ untouched;
    return changed == 0;
  }
};

// Behind the __shared__ variables of the calling OS thread. The first call guards them.
struct guarded_stretch {
  canary* first = nullptr;
  const std::byte* pages = nullptr;
  std::size_t page_bytes = 0;

  bool holds(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(pages) < page_bytes;
  }
};
guarded_stretch guard_shared_variables();

class multiprocessor : public block_execution {
 public:
  using block_execution::block_execution;

  // Runs blocks of `of` until none is left to start or the launch has failed. Called by the OS
  // thread that plays this multiprocessor.
  void run(grid& of);

  // ---- Called by the host thread that launched, too.

  // Whether the address is in the guard pages behind the __shared__ variables.
  bool is_behind_shared_variables(std::uintptr_t address) const {
    return variables_guard_.holds(address);
  }
  // All that is an access by which threads wait has a place here.
  static const void* looked_from(const resident_thread&) { return nullptr; }
  bool waits_for_grid() const { return waits_for_grid_.load(std::memory_order_relaxed); }
  void waits_for_grid(bool waits) { waits_for_grid_.store(waits, std::memory_order_relaxed); }
  // Grows while no thread of the block can do anything unless another block changes memory.
  std::uint64_t idle_turns() const { return idle_turns_.load(std::memory_order_relaxed); }

 private:
  friend block_execution;

  bool take_block();
  bool take_blocks();
  void guard_shared_memory();
  void check_shared_memory();
  void note_turn();
  void back_off();

  std::uint64_t next_block_ = 0, end_of_blocks_ = 0;  // those taken that have not begun
  guarded_stretch variables_guard_;
  canary* behind_dynamic_ = nullptr;  // of this launch
  unsigned repeated_turns_ = 0;       // of threads that had seen and held exactly the same before
  std::vector<std::uint64_t> states_at_last_turn_;  // of the fiber with the same number
  std::atomic<std::uint64_t> idle_turns_ = 0;
  std::atomic<bool> waits_for_grid_ = false;
};

// What switches is inlined into the kernel: a processor predicts that a `ret` returns to the last
// call, and after a switch that call was another fiber's. In a function of its own, the switch
// cost three wrong predictions for each thread, which was more than all the rest.
inline __attribute__((always_inline)) void block_execution::go_on_with_another() {
  resident_thread& self = *current_;
  self.index = threadIdx;
  resident_thread* next = next_runnable();
  if (next == &self) return;
  current_ = next;
  switch_fiber(self.own, next->own);
  threadIdx = this_multiprocessor->current_->index;
}

inline __attribute__((always_inline)) void block_execution::block_barrier(place at, bool) {
  if (!at.surely_same(barrier_.called_from())) come_to_another_barrier(at);
  if (barrier_.arrive() == running_) {
    if (!anything_waited()) count_started();  // the others have returned
    if (all_have_started()) {
      open_barrier();
      return;
    }
  }
  wait_at_barrier(at);
  go_on_with_another();
}

inline void block_execution::progressed() {
  fruitless_ = 0;
  static_cast<multiprocessor*>(this)->repeated_turns_ = 0;
}

inline void block_execution::sleep(const place& at) { let_others_run(at); }

// The loop that translate.py puts around the body of a kernel whose threads can't wait: over the
// thread that runs now and those behind it in its row of the block.
//
// Made by the thread with which a row begins. Should a thread give its turn away after all, the
// block's other rows overtake this one.
class row_of_threads {
 public:
  struct sentinel {};
  class iterator {
   public:
    iterator() : index_(threadIdx), end_(blockDim.x) {}
    const uint3& operator*() const {
      threadIdx.x = index_.x;
      // Before what the thread does: the handler of a fault reads there whose it is.
      asm volatile("" ::: "memory");
      return index_;
    }
    void operator++() { ++index_.x; }
    bool operator!=(sentinel) const { return index_.x != end_; }

   private:
    uint3 index_;
    const unsigned end_;
  };

  row_of_threads() { this_multiprocessor->run_whole_row(); }
  iterator begin() const { return {}; }
  sentinel end() const { return {}; }
};

// Runs threads one after the other, of one block and of the next ones. Inlined with the kernel into
// one loop, since most kernels are a few instructions a thread; and a fiber that has run out of
// threads waits in here, where it can begin with the next at once.
//
// The inner loop runs a row of the block, and writes nothing for a thread but threadIdx.x. The
// first thread that waits counts the threads before it as started.
template <class Body>
void run_threads(multiprocessor& on, const void* erased_body) {
  const Body body = *static_cast<const Body*>(erased_body);  // a copy can live in registers
  const std::uint64_t launch = on.launch_number();
  do {
    while (on.start_next()) {
      const unsigned width = blockDim.x;
      for (;;) {
        body();  // of one thread, or of all to the end of the row: see above
        if (on.anything_waited()) [[unlikely]] {
          on.returned(on.thread_rank());
          break;
        }
        const unsigned next = threadIdx.x + 1;
        if (next == width) {
          on.count_started();
          break;
        }
        threadIdx.x = next;
      }
    }
  } while (on.find_threads(launch));
}

}  // namespace cpu_backend
