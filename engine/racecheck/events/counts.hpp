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
#include "racecheck/memory/shadow.hpp"

namespace racecheck {

// Three numbers for each piece: the allocation's, the first byte, the one after the last.
using loaded_pieces = std::vector<std::uint64_t>;

// Which bytes of allocations each launch loads, as far as anybody has seen it; and a run in which
// all others are different ones.
//
// No compiler tells of what a library's function loads. So whoever wants to be sure that no load
// stays unseen runs a program twice, with the same seed: the second time each byte that the first
// run's launch was not seen to load is another one as long as the launch lasts. What comes out
// must be the same. A hidden load of bytes that the same launch loads visibly is not found.
class loaded_bytes {
 public:
  // With more memory than this nothing is looked at, as in stored_bytes.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  // From the next launch on.
  void watch() { is_watching_ = true; }
  // The next launch for which nobody has said this yet was seen to load these pieces: all other
  // bytes are changed meanwhile, in a way that `drawn_from` and nothing else decides.
  void change_others(loaded_pieces but, std::uint64_t drawn_from);

  void launch_begins(shadow_memory& memory);
  // All of them are in the region.
  void loaded(const region& in, const std::byte* address, std::size_t bytes) {
    note(in, address, bytes, &bytes_of_region::is_loaded);
  }
  void stored(const region& in, const std::byte* address, std::size_t bytes) {
    note(in, address, bytes, &bytes_of_region::is_stored);
  }
  // Puts back what was changed, but for what the launch has stored. Returns what it has loaded.
  loaded_pieces launch_ends();

 private:
  struct bytes_of_region {
    std::vector<bool> is_loaded, is_stored;
    // Only if they are changed, and both of the region's size.
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
};

// Which bytes of global memory a launch has stored, as far as anybody has seen it, and which it has
// changed all the same.
//
// No compiler tells of what a library's function stores, or of code that must not be instrumented.
// So that nobody's work stays unseen, memory as it was before the launch is compared with what is
// there after it. A hidden store whose bytes are stored visibly in the same launch is not found.
class stored_bytes {
 public:
  // With more memory than this a launch is not compared: a copy of it would take too long.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  void launch_begins(shadow_memory& memory);
  // All of them are in the region.
  void stored(const region& in, const std::byte* address, std::size_t bytes);
  // How many bytes have changed since launch_begins() and were not stored; nothing if that is not
  // known.
  std::optional<std::uint64_t> unseen() const;

 private:
  struct region_before {
    std::vector<std::byte> content;
    std::vector<bool> is_stored;
  };

  std::unordered_map<const region*, region_before> regions_;
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

struct launch_counts {
  cpu_backend::observer::launch launch;
  bool completed = false;  // not if the kernel died, or runs still
  std::uint64_t blocks_begun = 0;
  std::size_t dynamic_shared_bytes = 0;  // of each block
  std::size_t static_shared_bytes = 0;   // the most that one block used
  group_counts total;
  group_counts most_per_block;
  event_counts most_per_thread;
  // Of global memory, changed by the launch and by no store that was seen; see stored_bytes.
  std::optional<std::uint64_t> unseen_bytes_stored;
  // Empty unless somebody watches the loads.
  loaded_pieces loaded;
};

// Counts what each launch of a program does. Whoever uses it tells it what happens, in order, as
// event_consumer has it.
class launch_counter {
 public:
  // Later launches are not counted: a program with very many of them would fill the report.
  static constexpr std::size_t most_launches = 1000;

  void launch_begins(const cpu_backend::observer::launch& now);
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
  void atomic_done(unsigned rank, region& in);
  void fenced(unsigned rank) { ++running_->threads[rank][event::fence]; }
  void barrier_arrives(bool orders_memory) { running_->barrier_orders_memory = orders_memory; }
  void barrier_opens() { running_->barriers_opened += running_->barrier_orders_memory; }
  void lanes_converge() { ++running_->counts.warp_barriers; }
  void grid_barrier_arrives() { ++running_->counts.grid_barriers; }

  // In the order of their launches. One that runs still is the last, with what it has done so far.
  std::vector<launch_counts> launches() const;

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

  std::vector<launch_counts> done_;
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

// Stands between the events and whoever else wants them: counts what happens, and hands it on.
//
// It is a consumer of its own, so that a program that is not counted has nothing to do with it.
class counting_consumer final : public event_consumer {
 public:
  explicit counting_consumer(event_consumer& next) : next_(next) {}

  const launch_counter& counter() const { return counter_; }
  host_counts host() { return host_calls_.counts(memory()); }
  loaded_bytes& loaded() { return loaded_; }

  void launch_begins(const cpu_backend::observer::launch& now) override;
  void launch_ends(bool failed) override;
  void block_begins(const cpu_backend::observer::block& begun) override;
  void block_ends() override;
  void block_runs(unsigned multiprocessor) override;
  void block_pauses() override;
  thread_state* thread_runs(unsigned rank) override { return next_.thread_runs(rank); }
  void shared_variable_appears(const cpu_backend::observer::shared_variable& variable) override;
  void barrier_arrives(thread_state& by, bool orders_memory) override;
  void barrier_opens(place_number place) override;
  void lanes_converge(unsigned first_rank, unsigned lanes, place_number place) override;
  void grid_barrier_arrives(thread_state& by) override;
  void grid_barrier_passes(thread_state& by) override { next_.grid_barrier_passes(by); }
  void fenced(thread_state& by, scope within, bool sequentially_consistent,
              place_number place) override;
  void atomic_begins(thread_state& by, const std::byte* address, std::size_t bytes,
                     cpu_backend::observer::access kind) override {
    next_.atomic_begins(by, address, bytes, kind);
  }
  void atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                   place_number place) override;
  void old_value_is_unused(thread_state& by) override { next_.old_value_is_unused(by); }
  bool check(std::span<const logged_access> logged) override;
  bool volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                       site_number site, bool writes) override;
  bool access_in_no_region(thread_state& by, const std::byte* address, std::size_t bytes,
                           place_number place, bool writes) override {
    return next_.access_in_no_region(by, address, bytes, place, writes);
  }
  void access_leaves_region(thread_state& by, const std::byte* address, std::size_t bytes,
                            place_number place, bool writes) override {
    next_.access_leaves_region(by, address, bytes, place, writes);
  }
  void runtime_called(const char* function) override {
    host_calls_.called(function);
    next_.runtime_called(function);
  }
  shadow_memory& memory() override { return next_.memory(); }

 private:
  void stored(const region& in, const std::byte* address, std::size_t bytes);
  void plainly_accessed(const region& in, const std::byte* address, std::size_t bytes, bool writes);

  event_consumer& next_;
  launch_counter counter_;
  host_call_counter host_calls_;
  stored_bytes stored_;
  loaded_bytes loaded_;
};

}  // namespace racecheck
