// SPDX-License-Identifier: MIT
// The race checker: takes the events, and hands them to the parts that it is made of.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
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
#include "racecheck/races/host_memory.hpp"
#include "racecheck/races/misuses.hpp"
#include "racecheck/races/resident_blocks.hpp"
#include "racecheck/races/synchronization_log.hpp"

namespace racecheck {

class checker : public event_consumer {
 public:
  // The program's only one: report/program_end.cpp says which.
  static checker& instance();

  // ---- What happened: see event_consumer.
  void launch_begins(const cpu_backend::observer::launch& now) override;
  void launch_waits(const cpu_backend::work& given) override;
  void launch_goes_on(const cpu_backend::work& given) override;
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
  void fenced(thread_state& by, scope within, fence_kind kind, place_number place) override;
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
  void variable_written(const thread_state& by, const region& in, const std::byte* address,
                        std::size_t bytes, place_number place) override;
  void barrier_reached_elsewhere(const thread_state& by, place_number place, unsigned first_rank,
                                 place_number first_place) override {
    findings_.add_two_barriers({by.name.block, first_rank}, first_place, by.name, place);
  }
  void host_uses_unwritten(place_number place) override { findings_.add_unwritten_use(place); }
  void lane_has_ended(const thread_state& by, unsigned lane, place_number place) override {
    findings_.add_misuse(mistake::ended_lane, by.name, place, operation::read,
                         {.name = "lane " + std::to_string(lane)});
  }
  void read_only_load(const thread_state& by, const std::byte* address, std::size_t bytes,
                      place_number place) override {
    misuses_.note_read_only_load(by, address, bytes, place);
  }
  void parameter_is_read_only(const std::byte* pointer, const char* name) override {
    misuses_.note_read_only_parameter(pointer, name);
  }
  void runtime_called(const char*) override {}
  void range_accessed(const cpu_backend::work& by, const std::byte* begin, std::size_t bytes,
                      bool writes) override;
  void host_accesses(const host_access& by) override;
  void all_work_is_done() override;
  bool has_several_works() const override { return clocks_.works().has_several(); }
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
  std::uint64_t accesses() const { return launches_ != 0 ? accesses_ : accesses_by_works_; }
  std::uint64_t launches() const { return launches_; }
  std::uint64_t failed_launches() const { return failed_launches_; }
  // Reads of words that other threads had read, too, and which there was no room to remember.
  std::uint64_t forgotten_reads() const { return history_.reads().forgotten(); }

 private:
  // Which a copy or fill has accessed, all of it in the region.
  struct range {
    region* in = nullptr;
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    cell_record made;
    bool writes = false;
  };
  void begin_group(const launch_shape& shape);
  void access_weakly(const thread_state& by, region& in, const std::byte* begin, std::size_t bytes,
                     place_index place, bool writes);
  // In a run by decisions, which explores no order of two works: whether one of them shows.
  void note_strong_access(const thread_state& by, const region& in, const std::byte* address);
  void note_earlier_group(const cpu_backend::place* at) const;
  thread_state& run_alone(const cpu_backend::work& given);
  void put_ranges_into_cells(const cpu_backend::work& before);
  void put_into_cells(const range& accessed);
  static void put_before(cell_record& write, cell_record& read, const range& accessed);

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
  misuse_check misuses_{clocks_, memory_, history_, findings_};
  atomic_access_check atomics_{clocks_, blocks_, history_, conflicts_, log_, older_};
  plain_access_check plain_{clocks_, blocks_, history_, conflicts_, atomics_, findings_};
  // Threads whose last atomic has read what nothing had written, and where it stands.
  std::unordered_map<std::uint64_t, place_number> unwritten_reads_;
  // In no cells yet: no work that may run beside theirs has come.
  std::vector<range> ranges_;
  bool has_group_ = false;        // of works: see device_works
  bool has_waited_ = false;       // a launch of it, for others
  std::uint32_t next_block_ = 0;  // in it
  cpu_backend::work_position alone_;
  // By the number of an aligned 16 bytes: works that have used them by atomics or volatile
  // accesses.
  std::unordered_map<std::uintptr_t, std::vector<cpu_backend::work_position>> strong_users_;
  host_memory host_memory_;
  bool looks_for_races_ = true;
  std::uint64_t accesses_ = 0;  // by kernels, which is what counts where there is one
  std::uint64_t accesses_by_works_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t failed_launches_ = 0;
};

}  // namespace racecheck
