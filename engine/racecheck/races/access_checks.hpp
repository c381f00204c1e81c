// SPDX-License-Identifier: MIT
// The race test: each access to a cell against what is remembered of that cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu_backend/observer.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/places.hpp"
#include "racecheck/memory/access_history.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/memory/weak_memory.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/order/synchronization.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/races/finding_collection.hpp"
#include "racecheck/races/resident_blocks.hpp"
#include "racecheck/races/synchronization_log.hpp"

namespace racecheck {

// One access to a cell against what is remembered of that cell.
//
// Each function reports a race with what it is given, if there is one. All accesses are of threads
// of the running block.
class conflict_check {
 public:
  conflict_check(const launch_clocks& clocks, const resident_blocks& blocks,
                 const access_history& history, finding_collection& findings)
      : clocks_(clocks), blocks_(blocks), history_(history), findings_(findings) {}

  std::uint64_t races() const { return findings_.races(); }
  // Whether `other` is before what `by` does now.
  bool before(const thread_state& by, cell_record other) const {
    return is_before(clocks_, blocks_.running(), by, other);
  }

  void check_weak_write(const thread_state& by, const cell_access& now, operation what,
                        cell_record write) {
    if (!before(by, write)) [[unlikely]]
      findings_.add_race(by, now, what, write, operation::write);
  }
  // `read`: one, or a set.
  void check_reads(const thread_state& by, const cell_access& now, operation what,
                   cell_record read);
  // To be called where a race was found: that a thread changes what it has read itself since the
  // last write, if it has. `reads`: those that are remembered.
  void note_update(const thread_state& by, const cell_access& now, operation what,
                   cell_record reads);
  // All that are remembered of the cell's location.
  void check_strong_writes(const thread_state& by, const cell_access& now, operation what,
                           const location& at);

 private:
  bool is_morally_strong(const thread_state& by, cell_record made, cell_record other) const;

  const launch_clocks& clocks_;
  const resident_blocks& blocks_;
  const access_history& history_;
  finding_collection& findings_;
};

constexpr operation operation_of(cpu_backend::observer::access kind) {
  return kind == cpu_backend::observer::access::load    ? operation::atomic_load
         : kind == cpu_backend::observer::access::store ? operation::atomic_store
                                                        : operation::atomic_update;
}

// Atomics and volatile accesses: what they carry from thread to thread, and the race test for them
// and for the words that they have used. All accesses are of threads of the running block.
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
             place_index place);
  // A plain or volatile access of a cell that atomics have used.
  void check_plain(thread_state& by, const cell_access& now, bool writes);
  // What a plain write of such a cell means for those that acquire from it.
  void carry_plain_write(const thread_state& by, const cell_access& now);
  // What a volatile access carries: as much as a relaxed atomic of the whole system. All of its
  // bytes lie in `in`.
  void carry_volatile(thread_state& by, region& in, const std::byte* address, std::size_t bytes,
                      place_index place, bool writes);

  // An atomic or volatile access of the host's, which orders what it does there: nothing of the
  // host is weaker.
  void host_accesses(thread_state& by, region& in,
                     const cpu_backend::observer::atomic_operation& done, bool is_volatile,
                     place_index place);

 private:
  // A write here that is no atomic one: no load gets what was there before.
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

// A read by `by` of `bytes` bytes at `address`, all of them in `in`, which starts unwritten: it is
// a mistake if neither a kernel nor the host has written one of them. Returns whether it is.
bool check_initialization(finding_collection& findings, const thread_state& by, region& in,
                          const std::byte* address, std::size_t bytes, place_number place);

// The race test for plain accesses, all of threads of the running block.
class plain_access_check {
 public:
  plain_access_check(const launch_clocks& clocks, const resident_blocks& blocks,
                     access_history& history, conflict_check& conflicts,
                     atomic_access_check& atomics, finding_collection& findings)
      : clocks_(clocks),
        blocks_(blocks),
        history_(history),
        conflicts_(conflicts),
        atomics_(atomics),
        findings_(findings) {}

  // Returns whether one of them writes.
  bool check(std::span<const logged_access> logged);
  // In the weak form, where races are not looked for: only what the writes mean for atomics.
  // Returns whether there are any.
  bool carry_writes(std::span<const logged_access> logged);
  // As check(), for one access, of any form and whatever its cells hold. `marks` are those of its
  // cell_record.
  void check_cells(const logged_access& of, unsigned marks);

 private:
  bool is_after_all_of(const thread_state& by, epoch known_start, std::uint64_t stamp,
                       const cell& of) const;
  bool read_whole_cell(const thread_state& by, epoch known_start, std::uint64_t stamp,
                       place_index place, cell& of);
  bool write_whole_cell(const thread_state& by, epoch known_start, std::uint64_t stamp,
                        place_index place, cell& of);
  void use_cell(thread_state& by, const cell_access& now, bool writes, cell_record& write,
                cell_record& read);
  void use_byte(thread_state& by, const cell_access& now, bool writes, std::size_t byte);

  const launch_clocks& clocks_;
  const resident_blocks& blocks_;
  access_history& history_;
  conflict_check& conflicts_;
  atomic_access_check& atomics_;
  finding_collection& findings_;
};

}  // namespace racecheck
