// SPDX-License-Identifier: MIT
// A checker that counts what happens as well. It is another class, so that a program that is not
// counted has nothing to do with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "racecheck/events/counts.hpp"
#include "racecheck/races/checker.hpp"

namespace racecheck {

class counting_checker final : public checker {
 public:
  launch_counter& counter() { return counter_; }
  host_counts host() { return host_calls_.counts(memory()); }
  bytes_of_launch& bytes() { return bytes_; }

  void launch_begins(const cpu_backend::observer::launch& now) override {
    counter_.launch_begins(now);
    bytes_.launch_begins(memory());
    checker::launch_begins(now);
  }
  void launch_waits(const cpu_backend::work& given) override {
    counter_.launch_waits();
    bytes_.launch_waits();
    checker::launch_waits(given);
  }
  void launch_goes_on(const cpu_backend::work& given) override {
    counter_.launch_goes_on(given);
    checker::launch_goes_on(given);
  }
  void launch_ends(bool failed) override {
    const std::optional<std::uint64_t> unseen = bytes_.unseen();
    counter_.launch_ends(failed, unseen, bytes_.launch_ends());
    checker::launch_ends(failed);
  }
  void block_begins(const cpu_backend::observer::block& begun) override {
    counter_.block_begins(begun);
    checker::block_begins(begun);
  }
  void block_ends() override {
    counter_.block_ends();
    checker::block_ends();
  }
  void block_runs(unsigned multiprocessor) override {
    counter_.block_runs(multiprocessor);
    checker::block_runs(multiprocessor);
  }
  void block_pauses() override {
    counter_.block_pauses();
    checker::block_pauses();
  }
  void shared_variable_appears(const cpu_backend::observer::shared_variable& variable) override {
    if (!variable.is_at_namespace_scope) counter_.shared_variable_used(variable.bytes);
    checker::shared_variable_appears(variable);
  }
  void barrier_arrives(thread_state& by, bool orders_memory) override {
    counter_.barrier_arrives(orders_memory);
    checker::barrier_arrives(by, orders_memory);
  }
  void barrier_opens(place_number place) override {
    counter_.barrier_opens();
    checker::barrier_opens(place);
  }
  void lanes_converge(unsigned first_rank, unsigned lanes, place_number place) override {
    counter_.lanes_converge();
    checker::lanes_converge(first_rank, lanes, place);
  }
  void grid_barrier_arrives(thread_state& by) override {
    counter_.grid_barrier_arrives();
    checker::grid_barrier_arrives(by);
  }
  void fenced(thread_state& by, scope within, fence_kind kind, place_number place) override {
    counter_.fenced(by.name.rank);
    checker::fenced(by, within, kind, place);
  }
  void atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                   place_number place) override {
    using cpu_backend::observer::access;
    if (region* in = memory().find(done.address)) {
      counter_.atomic_done(by.name.rank, *in, done.bytes);
      if (!in->is_shared_memory()) {
        const bool writes = done.kind != access::load;  // a load may be one of a loop that waits
        counter_.moved(by.name, done.address, done.bytes, writes, writes);
      }
      if (done.kind != access::load) bytes_.stored(*in, done.address, done.bytes);
      if (done.kind != access::store) bytes_.loaded(*in, done.address, done.bytes);
    }
    checker::atomic_done(by, done, place);
  }
  bool check(std::span<const logged_access> logged) override {
    for (const logged_access& each : logged) {
      plainly_accessed(*each.thread, *each.in, each.address, each.bytes, each.writes);
    }
    return checker::check(logged);
  }
  bool volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                       place_index place, bool writes) override {
    if (region* in = memory().find(address)) {
      const auto left = in->bytes - static_cast<std::size_t>(address - in->begin);
      plainly_accessed(by, *in, address, std::min(bytes, left), writes, true);
    }
    return checker::volatile_access(by, address, bytes, place, writes);
  }
  void runtime_called(const char* function) override { host_calls_.called(function); }

 private:
  void plainly_accessed(const thread_state& by, region& in, const std::byte* address,
                        std::size_t bytes, bool writes, bool may_wait = false) {
    counter_.accessed(by.name.rank, in, bytes, writes);
    if (!in.is_shared_memory())
      counter_.moved(by.name, address, bytes, writes, !writes && !may_wait);
    if (writes) {
      bytes_.stored(in, address, bytes);
    } else {
      bytes_.loaded(in, address, bytes);
    }
  }

  launch_counter counter_;
  host_call_counter host_calls_;
  bytes_of_launch bytes_;
};

}  // namespace racecheck
