// SPDX-License-Identifier: MIT
// The race checker: takes the events, and hands them to the parts that it is made of.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "racecheck/events/event_consumer.hpp"
#include "racecheck/memory/access_history.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/memory/weak_memory.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/access_checks.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/races/finding_collection.hpp"
#include "racecheck/races/resident_blocks.hpp"
#include "racecheck/races/synchronization_log.hpp"

namespace racecheck {

class checker final : public event_consumer {
 public:
  static checker& instance();

  // ---- What happened: see event_consumer.
  void launch_begins(const cpu_backend::observer::launch& now) override;
  void launch_ends(bool failed) override;
  void block_begins(const cpu_backend::observer::block& begun) override { blocks_.begin(begun); }
  void block_ends() override { blocks_.end(); }
  void block_runs(unsigned multiprocessor) override {
    blocks_.run(multiprocessor);
    weak_.block_runs(blocks_.running());
  }
  void block_pauses() override { blocks_.pause(); }
  thread_state* thread_runs(unsigned rank) override { return &blocks_.running().threads[rank]; }
  void shared_variable_appears(const cpu_backend::observer::shared_variable& variable) override {
    blocks_.add_shared_variable(variable);
  }
  void barrier_arrives(thread_state& by, bool orders_memory) override {
    blocks_.barrier_arrives(by, orders_memory);
  }
  void barrier_opens(place_number place) override;
  void lanes_converge(unsigned first_rank, unsigned lanes, place_number place) override;
  void grid_barrier_arrives(thread_state& by) override;
  void grid_barrier_passes(thread_state& by) override;
  void fenced(thread_state& by, scope within, bool sequentially_consistent,
              place_number place) override;
  void atomic_begins(thread_state& by, const std::byte* address, std::size_t bytes,
                     cpu_backend::observer::access kind) override;
  void atomic_done(thread_state& by, const cpu_backend::observer::atomic_operation& done,
                   place_number place) override;
  void old_value_is_unused(thread_state& by) override;
  bool check(std::span<const logged_access> logged) override;
  bool volatile_access(thread_state& by, const std::byte* address, std::size_t bytes,
                       place_index place, bool writes) override;
  bool access_in_no_region(thread_state& by, const std::byte* address, std::size_t bytes,
                           place_number place, bool writes) override;
  void access_leaves_region(thread_state& by, const std::byte* address, std::size_t bytes,
                            place_number place, bool writes) override;
  void runtime_called(const char*) override {}
  shadow_memory& memory() override { return memory_; }

  // ---- A run by decisions whose fences have the order in which they are executed.
  void order_sc_fences() { clocks_.order_sc_fences(true); }

  // ---- A run in which atomic and volatile loads get older values, as in the weak form.
  // To be called before the first launch.
  void begin_older_loads();

  // ---- The weak form, in which races are looked for only on demand.
  weak_memory& weak() { return weak_; }
  const older_loads& older() const { return older_; }
  // What reads get is drawn from what they may get: see both.
  void draw_values(std::uint64_t seed) {
    weak_.draw_values(seed);
    older_.draw_values(seed);
  }
  // To be called before the first launch. `looks_for_races`: as without it, and more slowly.
  void begin_weak_form(bool looks_for_races);

  // ---- What the report asks for.
  std::vector<finding> findings() const { return findings_.all(); }
  std::uint64_t changes_of_findings() const { return findings_.changes(); }
  const std::set<plain_update>& plain_updates() const { return findings_.plain_updates(); }
  // For tests that run many programs in one process.
  void forget_findings() { findings_.forget(); }
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t failed_launches() const { return failed_launches_; }
  // Reads of words that other threads had read, too, and which there was no room to remember.
  std::uint64_t forgotten_reads() const { return history_.reads().forgotten(); }

 private:
  bool in_no_region(const thread_state& by, const std::byte* address, std::size_t bytes,
                    place_number place, operation what);
  void outside(const thread_state& by, const std::byte* address, std::size_t bytes,
               place_number place, operation what);

  launch_clocks clocks_;
  shadow_memory memory_;
  access_history history_{clocks_};
  weak_memory weak_{clocks_};
  older_loads older_{clocks_};
  resident_blocks blocks_{clocks_, memory_, history_, weak_};
  synchronization_log log_{clocks_};
  finding_collection findings_{clocks_, blocks_, log_};
  conflict_check conflicts_{clocks_, blocks_, history_, findings_};
  atomic_access_check atomics_{clocks_, blocks_, history_, conflicts_, log_, older_};
  plain_access_check plain_{clocks_, blocks_, history_, conflicts_, atomics_, findings_};
  // Threads whose last atomic has read what nothing had written, and where it stands.
  std::unordered_map<std::uint64_t, place_number> unwritten_reads_;
  bool looks_for_races_ = true;
  std::uint64_t accesses_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t failed_launches_ = 0;
};

}  // namespace racecheck
