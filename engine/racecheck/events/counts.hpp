// SPDX-License-Identifier: MIT
// What each launch of a program does, in numbers, and what its host code has asked of the runtime:
// what the limits of an exercise are held to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/kept_work.hpp"
#include "racecheck/memory/shadow.hpp"

namespace racecheck {

inline std::size_t size_of(const dim3& of) { return std::size_t{of.x} * of.y * of.z; }
inline std::size_t threads_of(const cpu_backend::observer::launch& of) {
  return size_of(of.blocks) * size_of(of.threads);
}

// Three numbers for each piece: the allocation's, the first byte, the one after the last.
using loaded_pieces = std::vector<std::uint64_t>;

// Which bytes of allocations a launch loads and stores, as far as that is seen, and how the rest is
// found.
//
// No compiler tells of what a library's function loads or stores, or code that must not be
// instrumented. For stores, memory as it was before the launch is compared with what is there after
// it. For loads, a program runs twice, with the same seed: the second time each byte that the first
// run's launch was not seen to load is another one as long as the launch lasts, and what comes out
// must be the same. A hidden access is not found if the same launch accesses its bytes visibly.
class bytes_of_launch {
 public:
  // With more memory than this nothing is compared: a copy of it would take too long.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  // From the next launch on, what it loads is noted.
  void watch_loads() { is_watching_ = true; }
  // The next launch for which this was not said yet was seen to load these pieces: all other bytes
  // are changed meanwhile, in a way that `drawn_from` and nothing else decides.
  void change_others(loaded_pieces but, std::uint64_t drawn_from);

  void launch_begins(shadow_memory& memory);
  // All of them are in the region.
  void loaded(const region& in, const std::byte* address, std::size_t bytes) {
    note(in, address, bytes, &bytes_of_region::is_loaded);
  }
  void stored(const region& in, const std::byte* address, std::size_t bytes) {
    note(in, address, bytes, &bytes_of_region::is_stored);
  }
  // How many bytes have changed in the launch and were not stored; nothing if that is not known.
  std::optional<std::uint64_t> unseen() const;
  // Puts back what was changed, but for what the launch has stored. Returns what it has loaded.
  // Others work meanwhile: of this launch nothing more is compared.
  void launch_waits();
  loaded_pieces launch_ends();

 private:
  struct bytes_of_region {  // each of the region's size, or empty
    std::vector<std::byte> content;
    std::vector<bool> is_stored, is_loaded;
    // Only if they are changed: what they were before.
    std::vector<std::byte> before;
    std::vector<bool> is_changed;
  };
  struct wanted_change {
    loaded_pieces but;
    std::uint64_t drawn_from;
  };

  void note(const region& in, const std::byte* address, std::size_t bytes,
            std::vector<bool> bytes_of_region::*what);
  static void change(const region& of, bytes_of_region& bytes, const wanted_change& wanted);

  std::unordered_map<const region*, bytes_of_region> regions_;
  std::deque<wanted_change> changes_;
  bool is_watching_ = false;
  bool is_compared_ = false;
};

// What is counted for each thread. An access is what the compiler hands over as one: see
// docs/internals/racecheck.md.
enum class event : unsigned {
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic,
  fence,
};
inline constexpr std::size_t kinds_of_events = 7;

// One number for each kind of event.
class event_counts {
 public:
  std::uint64_t& operator[](event of) { return counts_[static_cast<unsigned>(of)]; }
  std::uint64_t operator[](event of) const { return counts_[static_cast<unsigned>(of)]; }
  void add(const event_counts& other);
  // Each number becomes the larger one of the two.
  void raise_to(const event_counts& other);

 private:
  std::array<std::uint64_t, kinds_of_events> counts_{};
};

// What one block did, or all of them.
struct group_counts {
  event_counts events;
  std::uint64_t global_bytes_loaded = 0;
  std::uint64_t global_bytes_stored = 0;
  std::uint64_t block_barriers = 0;
  std::uint64_t warp_barriers = 0;
  std::uint64_t grid_barriers = 0;

  void add(const group_counts& other);
  void raise_to(const group_counts& other);
};

// The numbers of a block that no thread has of its own, and their keys in a report.
struct block_number {
  std::uint64_t group_counts::*which;
  const char* key;
};
inline constexpr block_number block_numbers[] = {
    {&group_counts::global_bytes_loaded, "global_bytes_loaded"},
    {&group_counts::global_bytes_stored, "global_bytes_stored"},
    {&group_counts::block_barriers, "block_barriers"},
    {&group_counts::warp_barriers, "warp_barriers"},
    {&group_counts::grid_barriers, "grid_barriers"},
};

struct launch_counts {
  cpu_backend::observer::launch launch;
  bool completed = false;  // not if the kernel died, or runs still
  std::uint64_t blocks_begun = 0;
  std::size_t dynamic_shared_bytes = 0;  // of each block
  std::size_t static_shared_bytes = 0;   // the most that one block used
  group_counts total;
  group_counts most_per_block;
  event_counts most_per_thread;
  // In global memory, changed by the launch and by no store that was seen.
  std::optional<std::uint64_t> unseen_bytes_stored;
  loaded_pieces loaded;  // empty unless loads are watched
  // Of all that ran one after the other, if the program has said what its results are.
  bool is_noted = false;
  std::optional<std::size_t> first_thread;  // of one that moves anything
  share_counts kept, work, loads;
};

// Counts what each launch of a program does. It is told what happens, in order, as event_consumer
// has it.
class launch_counter {
 public:
  // Later launches are not counted: a program with very many of them would fill the report.
  static constexpr std::size_t most_launches = 1000;

  void launch_begins(const cpu_backend::observer::launch& now);
  void launch_waits();
  void launch_goes_on(const cpu_backend::work& given);
  void launch_ends(bool failed, std::optional<std::uint64_t> unseen_bytes_stored,
                   loaded_pieces loaded);
  void block_begins(const cpu_backend::observer::block& begun);

  // ---- The block that runs: the others only between block_runs() and block_pauses().
  void block_runs(unsigned multiprocessor) { running_ = &blocks_[multiprocessor]; }
  void block_pauses() { running_ = nullptr; }
  void block_ends();
  void shared_variable_used(std::size_t bytes) { running_->static_shared_bytes += bytes; }

  // ---- What its threads do, each known by its rank in the block.
  void accessed(unsigned rank, region& in, std::size_t bytes, bool writes);
  // One in memory that is only read is a load, whatever its form.
  void atomic_done(unsigned rank, region& in, std::size_t bytes);
  // In global memory.
  void moved(const thread_name& by, const std::byte* address, std::size_t bytes, bool writes,
             bool counts_as_moved) {
    if (!now_.is_noted) return;
    if (!now_.first_thread) now_.first_thread = kept_.launch_begins(threads_of(now_.launch));
    const std::size_t thread =
        *now_.first_thread + by.block * size_of(now_.launch.threads) + by.rank;
    if (!writes) kept_.loaded(*now_.first_thread, thread, address, bytes, !counts_as_moved);
    if (writes) kept_.stored(thread, address, bytes);
    // An atomic that writes elsewhere may be how a loop looks at what it waits for.
    if (counts_as_moved && (!writes || kept_.is_result(address))) kept_.moved(thread, bytes);
  }
  void fenced(unsigned rank) { ++running_->threads[rank][event::fence]; }
  void barrier_arrives(bool orders_memory) { running_->barrier_orders_memory = orders_memory; }
  void barrier_opens() { running_->barriers_opened += running_->barrier_orders_memory; }
  void lanes_converge() { ++running_->counts.warp_barriers; }
  void grid_barrier_arrives() { ++running_->counts.grid_barriers; }

  // In the order of their launches. One that runs still is the last, with what it has done so far.
  std::vector<launch_counts> launches() const;

  kept_work& kept() { return kept_; }

 private:
  struct resident_block {
    std::vector<event_counts> threads;
    group_counts counts;  // its events only at the end
    std::uint64_t barriers_opened = 0;
    bool barrier_orders_memory = true;
    std::size_t static_shared_bytes = 0;
  };
  static void add(const resident_block& done, launch_counts& to);
  void uses_shared_memory(region& used);

  struct waiting_launch {
    launch_counts counts;
    std::unordered_map<unsigned, resident_block> blocks;
  };

  kept_work kept_;
  std::vector<launch_counts> done_;
  std::vector<waiting_launch> waiting_;
  launch_counts now_;
  bool is_in_launch_ = false;
  std::unordered_map<unsigned, resident_block> blocks_;  // by multiprocessor
  resident_block* running_ = nullptr;
};

// What the program's host code has asked of the runtime.
struct host_counts {
  // Later calls are not listed: a program with very many of them would fill the report.
  static constexpr std::size_t most_calls = 1000;

  std::vector<std::string> runtime_calls;  // the functions, in the order of their calls
  std::uint64_t number_of_runtime_calls = 0;
  std::uint64_t unfreed_allocations = 0;
};

// Is told of the calls, by any host thread.
class host_call_counter {
 public:
  void called(const char* function);
  // With the allocations of the program that are in `memory` now.
  host_counts counts(shadow_memory& memory) const;

 private:
  mutable std::mutex lock_;
  host_counts so_far_;
};

}  // namespace racecheck
