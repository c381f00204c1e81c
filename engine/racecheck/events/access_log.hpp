// SPDX-License-Identifier: MIT
// A kernel's plain accesses on their way to the race test; and how a thread in a kernel stops when
// the time of its program is over.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu_backend/execution/kernel_fault.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/memory/weak_memory.hpp"
#include "racecheck/order/synchronization.hpp"

namespace racecheck {

// The end of a program's time: what was found until then is reported, and the program ends.
//
// A thread of a kernel stops where it comes to the checker next, so that the checker is not in the
// middle of anything; another thread then reports. report/time_watch.cpp decides when.
class time_limit {
 public:
  // Called by all that come to the checker; does not return once the time is over.
  void check() {
    if (is_over_.load(std::memory_order_relaxed)) [[unlikely]]
      stop_for_good();
  }
  // From here on check() stops its callers.
  void end() { is_over_.store(true); }
  // To be called by the thread that reports: its own calls of the checker are let through.
  void let_through() { is_over_.store(false); }
  bool has_stopped_a_thread() const { return has_stopped_.load(); }
  // Whether the checker works just now.
  bool checker_works() const { return works_.load(); }
  bool launch_runs() const { return launch_runs_.load(); }
  void set_launch_runs(bool runs) { launch_runs_.store(runs); }
  bool set_checker_works(bool works) {
    const bool before = works_.load(std::memory_order_relaxed);
    works_.store(works, std::memory_order_relaxed);
    return before;
  }

 private:
  [[noreturn]] void stop_for_good();

  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_stopped_ = false;
  std::atomic<bool> works_ = false;
  std::atomic<bool> launch_runs_ = false;
};

extern constinit time_limit time_of_program;

// A thread whose launch did not end, and that seems to wait for another one by plain reads: no such
// read need ever get what the other one writes.
struct plain_poll {
  place_index read = 0;  // the place of the read
  // The loop reads the same bytes again and again. Otherwise it does not read at all: this was the
  // thread's last read, and the compiler may have moved it out of the loop.
  bool reads_again = false;
};

// `latest`: what the thread has done last, all of it plain accesses, the oldest first.
std::optional<plain_poll> find_plain_poll(std::span<const logged_access> latest);

// Says so to the student, on stderr. report/run_report.cpp has the words.
void report(const plain_poll& poll, const cpu_backend::kernel_fault& stopped);

// The CUDA thread that runs on the calling OS thread; nullptr on a host thread, and while the
// backend works between threads.
extern constinit __thread thread_state* running_thread;

// An instruction that accesses memory, and what it found last: mostly it finds that again.
struct instruction {
  const void* from = nullptr;  // its return address
  stretch last;                // a region, or addresses in none
  region* in = nullptr;
  const std::uint32_t* changes = nullptr;  // the shadow memory's count on which that depends,
  std::uint32_t changes_then = 0;          // and what it was then
  place_index number = 0;
};

// In a run by decisions: of which kind the memory is that the running thread accesses.
void note_memory(const std::byte* address, bool writes, const void* from);

// A kernel's plain accesses on their way to the race test.
//
// They wait in a log until a thread does anything that changes clocks (an atomic, a fence, a
// barrier that opens), or another block runs: until then it is all the same when they are checked,
// as long as their order stays. Meanwhile their cells come into the cache. The threads of a
// grid-stride loop find nearly none of them there, and would wait for each.
//
// Only the OS thread that runs the kernels uses it.
class access_log {
 public:
  constexpr access_log() = default;

  // From here on: see note_memory().
  void watch_memory() { watches_memory_ = true; }

  // Called by the running thread.
  void add(const std::byte* address, std::size_t bytes, const void* from, bool writes) {
    instruction& known = known_at(from, writes);
    const auto offset = static_cast<std::size_t>(address - known.last.begin);
    if (known.from != from || offset >= known.last.bytes || known.changes_then != *known.changes)
        [[unlikely]] {
      find(known, address, bytes, from, writes);
    }
    if (!known.in) {
      if (watches_memory_) [[unlikely]]
        note_memory(address, writes, from);
      return;
    }
    const std::size_t left =
        known.last.bytes - static_cast<std::size_t>(address - known.last.begin);
    if (bytes > left) [[unlikely]]
      bytes = leaves_its_region(address, bytes, left, from, writes);
    __builtin_prefetch(&known.in->cell_at(address), 1);
    logged_[count_] = {running_thread, address, known.in, bytes, known.number, writes};
    if (++count_ == logged_.size()) [[unlikely]]
      check_full_log();
    if (weak_memory::active) [[unlikely]]
      pass_to_weak_memory(known, address, bytes, writes);
  }

  // Checks all that waits.
  void flush() {
    if (count_ != 0) check();
    was_full_ = false;
  }

  // What `by` has done last, the oldest first: as far as it is remembered since the last flush().
  std::vector<logged_access> latest_of(const thread_state& by) const;

 private:
  // A copy of memory reads and writes at one instruction: it has one for each.
  instruction& known_at(const void* from, bool writes) {
    const std::size_t reading = reinterpret_cast<std::uintptr_t>(from) / 2;
    return known_[(writes ? reading + known_.size() / 2 : reading) % known_.size()];
  }
  void check();
  void check_full_log() {
    check();
    was_full_ = true;
  }
  void pass_to_weak_memory(const instruction& known, const std::byte* address, std::size_t bytes,
                           bool writes);
  void find(instruction& known, const std::byte* address, std::size_t bytes, const void* from,
            bool writes);
  std::size_t leaves_its_region(const std::byte* address, std::size_t bytes, std::size_t left,
                                const void* from, bool writes);

  bool watches_memory_ = false;
  unsigned count_ = 0;
  bool was_full_ = false;  // since the last flush: then all that follows `count_` is older
  std::array<logged_access, 64> logged_{};
  std::array<instruction, 4096> known_{};
};

extern constinit access_log plain_accesses;

// Before anything but the access that comes just now reads memory.
inline void put_newest_values_back() {
  if (weak_memory::active) weak_memory::active->put_back();
  if (older_loads::active) older_loads::active->put_back();
}

// While the checker itself works, what it does to memory is not the thread's doing.
class checker_works {
 public:
  checker_works() : thread_(running_thread), worked_(time_of_program.set_checker_works(true)) {
    running_thread = nullptr;
    put_newest_values_back();
  }
  ~checker_works() {
    running_thread = thread_;
    time_of_program.set_checker_works(worked_);
  }
  checker_works(const checker_works&) = delete;
  checker_works& operator=(const checker_works&) = delete;
  thread_state& thread() const { return *thread_; }

 private:
  thread_state* const thread_;
  const bool worked_;
};

// Between the two halves of an atomic: the kernel's own code may be there, and use a variable,
// but no other thread.
inline constinit bool is_in_atomic = false;

// The same where clocks may change: all that threads did before is checked first.
class checker_synchronizes : public checker_works {
 public:
  checker_synchronizes() {
    is_in_atomic = false;
    time_of_program.check();
    plain_accesses.flush();
  }
};

}  // namespace racecheck
