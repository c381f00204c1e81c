// SPDX-License-Identifier: MIT
// Atomics and volatile accesses: what they carry from thread to thread, and the race test for them
// and for the words that they have used.
#pragma once

#include <cstddef>

#include "cpu_backend/observer.hpp"
#include "racecheck/events/sites.hpp"
#include "racecheck/memory/access_history.hpp"
#include "racecheck/memory/earlier_messages.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/cell_access.hpp"
#include "racecheck/races/conflict_check.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/races/resident_blocks.hpp"
#include "racecheck/races/synchronization_log.hpp"
#include "racecheck/weak/older_loads.hpp"

namespace racecheck {

constexpr operation operation_of(cpu_backend::observer::access kind) {
  return kind == cpu_backend::observer::access::load    ? operation::atomic_load
         : kind == cpu_backend::observer::access::store ? operation::atomic_store
                                                        : operation::atomic_update;
}

// All accesses are of threads of the running block.
class atomic_access_check {
 public:
  atomic_access_check(launch_clocks& clocks, resident_blocks& blocks, access_history& history,
                      conflict_check& conflicts, synchronization_log& log, older_loads& older)
      : clocks_(clocks),
        blocks_(blocks),
        history_(history),
        conflicts_(conflicts),
        log_(log),
        older_(older) {}

  void begin_launch() { earlier_.begin_launch(); }
  // An atomic or volatile load begins: what it is to read is in memory then, until
  // older_loads::put_back().
  void begin_load(const thread_state& by, region& in, const std::byte* address, std::size_t bytes) {
    passed_ = pass_writes(by, in, address, bytes);
  }
  // By how many writes the value that it reads is older than the newest one.
  unsigned passed() const { return passed_; }
  // An atomic operation on memory in `in`.
  void check(thread_state& by, region& in, const cpu_backend::observer::atomic_operation& done,
             site_number site);
  // A plain or volatile access of a cell that atomics have used.
  void check_plain(thread_state& by, const cell_access& now, bool writes);
  // What a plain write of such a cell means for those that acquire from it.
  void carry_plain_write(const thread_state& by, const cell_access& now);
  // What a volatile access carries: as much as a relaxed atomic of the whole system. All of its
  // bytes lie in `in`.
  void carry_volatile(thread_state& by, region& in, const std::byte* address, std::size_t bytes,
                      site_number site, bool writes);

 private:
  // A write here that is no atomic one: nobody gets what was there before.
  void forget_earlier(const region& in, const std::byte* address, const location& at);

  unsigned pass_writes(const thread_state& by, region& in, const std::byte* address,
                       std::size_t bytes);

  void check_weak_accesses(const thread_state& by, const cell_access& now, operation what);

  launch_clocks& clocks_;
  resident_blocks& blocks_;
  access_history& history_;
  conflict_check& conflicts_;
  synchronization_log& log_;
  earlier_messages earlier_;
  older_loads& older_;
  unsigned passed_ = 0;  // by the load that has begun
};

}  // namespace racecheck
