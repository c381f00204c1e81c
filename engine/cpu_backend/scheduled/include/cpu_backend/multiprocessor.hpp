// SPDX-License-Identifier: MIT
// The scheduled form: one OS thread plays all multiprocessors in turn (player.hpp), and a block
// gives its turn back where the scheduler wants it to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu_backend/execution/block_execution.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/shared_memory.hpp"

namespace cpu_backend {

class memory_wait {
 public:
  // A thread has changed memory, or there is one thread less to wait for it. Counts for all blocks:
  // a thread that waits counts as doing so only if it has looked since.
  static void memory_changed() { ++changes_; }

  // The thread has looked at memory, changed nothing, and lets others run; `state` is what it holds
  // by itself.
  void looked(unsigned fiber, std::uint64_t state);

  // How many threads have looked again and again since memory changed, and are where they were.
  unsigned waiting() const { return since_ == changes_ ? waiting_ : 0; }

 private:
  struct turns {
    std::uint64_t state = 0;  // in which the thread ended its last turn
    std::uint64_t since = 0;  // memory changes
    unsigned repeated = 0;    // turns since then that ended in this state
  };

  static inline std::uint64_t changes_ = 0;
  std::vector<turns> turns_;
  std::uint64_t since_ = 0;
  unsigned waiting_ = 0;
};

class multiprocessor : public block_execution {
 public:
  using block_execution::block_execution;

  // ---- For the player.

  void begin(grid& of);
  // From here on it is the turns of that grid that come, which has waited for others.
  static void go_on_with(const grid& of);
  // From begin() to end().
  bool is_taken() const { return grid_ != nullptr; }
  // Goes on with the resident block, or with the next of the grid, until that gives the turn back.
  // False where there is neither.
  bool take_turn();
  // True if the last turn changed nothing and ended where all of the block's threads wait.
  bool was_idle() const { return turn_was_idle_ && !changed_memory_; }
  bool has_changed_memory() const { return changed_memory_; }
  bool has_block() const { return has_block_; }
  bool is_late() const { return has_block_ && is_late_; }
  // Since when its block is held back, on a clock that only grows; 0: it is not.
  std::uint64_t held_back() const { return held_back_; }
  std::uint64_t block() const { return block_; }
  // In a run by decisions: the ranks of the threads before a strong access, and whose is next.
  const std::vector<unsigned>& parked() const { return parked_; }
  void decide(unsigned rank) { decided_ = rank; }
  // Whether that is in its block's shared memory.
  bool has_shared(const void* address) const { return shared_variables_.hold(address); }
  // Where the launch's arguments are, which each thread copies.
  void takes_arguments(const void* begin, std::size_t bytes) {
    arguments_ = {static_cast<const std::byte*>(begin), bytes};
  }
  // Whether that is one of them, a local variable of the running thread, or what the backend's
  // functions keep that are inlined into kernels.
  bool has_local(const void* address) const;
  // Whether its block waits at a barrier of the grid that has opened, or never will.
  bool leaves_grid_barrier() const;
  // After the launch; forgets the block that a failed one left.
  void end();
  const uint3& block_index() const { return block_index_; }
  std::vector<diagnostic> waiting_threads_of_block() const;

  // The instruction after a thread's last look at memory of which no place of the source is known.
  const void* looked_from(const resident_thread& thread) const {
    const unsigned fiber = thread.own.stack->index;
    return fiber < looks_from_.size() ? looks_from_[fiber] : nullptr;
  }

  // Who observes has seen such an access before it was made.
  static constexpr bool is_behind_shared_variables(std::uintptr_t) { return false; }

  // ---- Called by the running thread.

  // Starts one of the threads that have not begun, in the scheduler's order, and returns its rank.
  unsigned start_thread();
  // First thing in a function that a waiting thread may call again and again, with that function's
  // frame: remembers what the thread itself holds. (The frames of the backend and the observer
  // below it hold the leavings of other work.) The function must have saved all registers in its
  // frame.
  void note_state(const void* frame);
  // The running thread looks at memory before this instruction, which is all that is known.
  void looks_from(const void* instruction);
  // Others that wait may see it.
  void changed_memory() {
    changed_memory_ = true;
    memory_wait::memory_changed();
  }
  // At a fence that is sequentially consistent, before an atomic and after it: see
  // scheduled::hold_back_after_fences().
  void fenced() { has_fenced_ = true; }
  void atomic_begins(const place& at) {
    if (has_fenced_) [[unlikely]]
      hold_back(at);
  }
  void atomic_ends() {
    if (is_held_back_after_atomic_) [[unlikely]]
      hold_back_now();
  }
  // Before a strong access, in a run by decisions: returns when it is this thread's turn.
  // `address` is nullptr before a fence. The state of the thread has been noted.
  void wait_for_decision(const void* address);
  // Such an access has happened, here if that is known.
  void accessed_strongly(const void* address, std::size_t bytes, observer::access kind,
                         bool changed_memory, const char* order, const place& at);
  // A thread has read memory often since the turn began. Whether it does not give the turn back: in
  // a run by decisions, for some time.
  bool goes_on();
  // Its block waits until the grid's barrier is not in this generation any more; or does not wait.
  void wait_at_grid_barrier(std::uint64_t generation) { at_grid_barrier_ = generation; }
  void pass_grid_barrier() { at_grid_barrier_.reset(); }
  // Here the scheduler may let another thread of the block go on, or another block.
  void switch_point(const place& at);
  // Lets other blocks go on; returns when it is this one's turn again.
  void give_turn_back(bool idle);
  // A __shared__ variable, at each execution of its declaration.
  void use_shared_variable(void* address, std::size_t bytes, const char* name, const char* type);
  // A __shared__ variable at namespace scope, which the block has from its beginning on.
  void use_shared_variable_of_file(void* address, std::size_t bytes, const char* name,
                                   const char* type);

 private:
  friend block_execution;
  void note_arrival(const void* from);
  struct {
    const void* from = nullptr;
    unsigned rank = 0;
  } arrived_first_;  // at the block's barrier
  friend block_execution;

  void hold_back(const place& at);
  void hold_back_now();

  bool take_block();
  void announce_variables_of_files();
  bool all_wait_for_memory() const;

  std::span<const std::byte> arguments_;
  std::uint64_t block_ = 0;  // its number in the grid
  uint3 block_index_{};
  bool has_block_ = false;
  bool is_late_ = false;  // It has not begun, and may not yet.
  bool turn_was_idle_ = false;
  bool changed_memory_ = false;  // in this turn
  bool is_held_back_after_atomic_ = false;
  bool has_fenced_ = false;  // since the block was held back last
  std::uint64_t held_back_ = 0;
  std::uint64_t noted_state_ = 0;
  std::uint64_t state_before_access_ = 0;
  static constexpr unsigned no_block = ~0u;
  std::vector<unsigned> parked_;
  unsigned decided_ = no_block;
  unsigned gone_on_ = 0;  // how often in this turn
  std::optional<std::uint64_t> at_grid_barrier_;
  memory_wait memory_wait_;
  std::vector<const void*> looks_from_;  // of each fiber
  std::vector<std::uint16_t> start_order_;
  shared_variables shared_variables_;
};

// All that the program has, since its beginning: each tells a block that begins of one variable.
class shared_variable_of_file {
 public:
  using announcement = void (*)(multiprocessor& to);
  explicit shared_variable_of_file(announcement of_one);
};

inline void block_execution::progressed() {
  fruitless_ = 0;
  static_cast<multiprocessor*>(this)->changed_memory();
}

// Runs threads of a block in the scheduler's order, and those of later blocks.
template <class Body>
void run_threads(multiprocessor& on, const void* erased_body) {
  const Body& body = *static_cast<const Body*>(erased_body);
  const std::uint64_t launch = on.launch_number();
  on.takes_arguments(erased_body, sizeof(Body));
  do {
    while (on.unstarted_thread() < on.threads()) {
      const unsigned rank = on.start_thread();
      body();
      on.returned(rank);
    }
  } while (on.find_threads(launch));
}

template <class Type>
struct type_name {
  static const char* compiler_text() { return __PRETTY_FUNCTION__; }
};
// What translate.py puts behind the declaration of a __shared__ variable.
template <class Type>
void shared_variable(Type& variable, const char* name) {
  if (multiprocessor* on = this_multiprocessor) {
    on->use_shared_variable(const_cast<std::remove_cv_t<Type>*>(&variable), sizeof variable, name,
                            type_name<Type>::compiler_text());
  }
}

// The same at namespace scope, for a block that begins.
template <class Type>
void announce_shared_variable(multiprocessor& to, Type& variable, const char* name) {
  to.use_shared_variable_of_file(const_cast<std::remove_cv_t<Type>*>(&variable), sizeof variable,
                                 name, type_name<Type>::compiler_text());
}

// What translate.py puts at the begin of a kernel with __launch_bounds__(most).
inline void check_launch_bounds(unsigned most, const place& at = CPU_BACKEND_HERE) {
  multiprocessor* const on = this_multiprocessor;
  if (on && most != 0 && on->threads() > most) on->fail_as("launch_bounds", at, "", most);
}

// What translate.py puts behind the declaration of the device's variables.
struct device_variable_of_file {
  device_variable_of_file(const volatile void* address, std::size_t bytes, bool is_constant,
                          bool is_managed, std::span<const unsigned char> padding);
};

// Whether the program has structures whose members need not be aligned, on a GPU either:
// translate.py has seen the word.
inline constinit bool has_packed_structures = false;

// Which bytes of a structure, or of each element of an array, are between members: those that are
// 0. (clang has nothing that says so.)
template <class Type>
std::span<const unsigned char> padding_of(const Type&) {
#if __has_builtin(__builtin_clear_padding)
  using element = std::remove_cv_t<std::remove_all_extents_t<Type>>;
  if constexpr (std::is_class_v<element> && std::is_trivially_copyable_v<element>) {
    alignas(element) static unsigned char bytes[sizeof(element)];
    std::fill_n(bytes, sizeof bytes, 0xff);
    __builtin_clear_padding(reinterpret_cast<element*>(bytes));
    return bytes;
  }
#endif
  return {};
}

// What translate.py puts at the begin of a kernel for a parameter of the type const T*
// __restrict__.
inline void promise_read_only(const volatile void* pointer, const char* name) {
  multiprocessor* const on = this_multiprocessor;
  if (on && on->thread_rank() == 0) {
    observer::parameter_is_read_only(const_cast<const void*>(pointer), name);
  }
}

}  // namespace cpu_backend
