// SPDX-License-Identifier: MIT
// Stands between the events and whoever else wants them: counts what happens, and hands it on.
//
// It is a consumer of its own, so that a program that is not counted has nothing to do with it.
#pragma once

#include <cstddef>
#include <span>

#include "racecheck/counts/host_counts.hpp"
#include "racecheck/counts/launch_counter.hpp"
#include "racecheck/counts/loaded_bytes.hpp"
#include "racecheck/counts/stored_bytes.hpp"
#include "racecheck/events/event_consumer.hpp"

namespace racecheck {

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
  void lanes_meet(unsigned first_rank, unsigned lanes, place_number place) override;
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
