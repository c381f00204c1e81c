// SPDX-License-Identifier: MIT
// What the race checker has found: one record, which the run fills in, whose places become lines of
// the source when it is over, which is written as JSON (report/finding_json.hpp), and from which
// all text is made (report/finding_text.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/order/synchronization.hpp"
#include "vector_types.h"

namespace racecheck {

// What may be said of a finding, in the order in which it is told: the rows CODE.name, CODE.advice,
// CODE.repair and CODE.otherwise of words.inc have the words. Those without a name say more about
// another one.
#define RACECHECK_DIAGNOSES(each)                                                                  \
  each(missing_event) each(unordered_threads) each(missing_wait) each(reused_too_early) each(      \
      released_too_early) each(plain_on_the_host) each(racing_host_threads) each(two_sizes)        \
      each(members_of_one_word) each(arrays_at_one_address) each(plain_flag) each(                 \
          lock_on_one_side) each(different_locks) each(lock_given_back) each(lock_lets_both_in)    \
          each(access_after_release) each(write_after_signal) each(observed_too_early) each(       \
              reclaimed_too_early) each(read_before_its_check) each(exchanged_in_two_steps)        \
              each(signal_not_awaited) each(read_between_two_signals) each(missing_meeting) each(  \
                  release_sequence_ended) each(scope_too_narrow) each(scope_of_one_thread)         \
                  each(missing_arrival) each(missing_barrier_before) each(barrier_is_enough) each( \
                      missing_release) each(missing_acquire) each(only_a_fence_acquires)           \
                      each(missing_barrier_after) each(missing_syncwarp) each(missing_syncthreads) \
                          each(barrier_is_not_enough) each(stride_of_one_block) each(              \
                              index_without_block) each(store_after_decision)                      \
                              each(stored_by_several) each(missing_atomic) each(                   \
                                  volatile_is_no_synchronisation) each(plain_mixed_with_atomic)    \
                                  each(atomic_orders_nothing) each(lock_opened_by_plain_store)     \
                                      each(plain_store_beside_updates)                             \
                                          each(plain_look_before_atomic) each(not_diagnosed) each( \
                                              no_synchronisation) each(same_value_is_no_excuse)    \
                                              each(older_value_read) each(unwritten_memory)        \
                                                  each(outside_of_the_allocation) each(            \
                                                      written_constant) each(local_of_another)     \
                                                      each(atomic_on_local) each(ended_lane)       \
                                                          each(read_only_load) each(two_barriers)  \
                                                              each(unwritten_use)

#define RACECHECK_ENUMERATOR(code) code,
#define RACECHECK_CODE(code) #code,
enum class diagnosis { RACECHECK_DIAGNOSES(RACECHECK_ENUMERATOR) };
inline constexpr std::string_view diagnosis_codes[] = {RACECHECK_DIAGNOSES(RACECHECK_CODE)};
#undef RACECHECK_ENUMERATOR
#undef RACECHECK_CODE

constexpr std::string_view code_of(diagnosis of) {
  return diagnosis_codes[static_cast<std::size_t>(of)];
}

// What a race lacks, as a set of diagnoses. It is empty if nothing connects the two threads.
class diagnosis_set {
 public:
  constexpr diagnosis_set() = default;
  constexpr diagnosis_set(std::initializer_list<diagnosis> all) {
    for (const diagnosis each : all) add(each);
  }

  constexpr bool has(diagnosis code) const { return (bits_ & bit(code)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }

  // Adds it if `is_there`.
  constexpr void add(diagnosis code, bool is_there = true) {
    if (is_there) bits_ |= bit(code);
  }
  constexpr void add(const diagnosis_set& others) { bits_ |= others.bits_; }
  constexpr diagnosis_set without(const diagnosis_set& others) const {
    return of_bits(bits_ & ~others.bits_);
  }
  constexpr diagnosis_set common_with(const diagnosis_set& others) const {
    return of_bits(bits_ & others.bits_);
  }

  // Whether repairing all of `other`, which is more, repairs this as well.
  constexpr bool is_part_of(const diagnosis_set& other) const {
    return !empty() && *this != other && without(other).empty();
  }

  auto operator<=>(const diagnosis_set&) const = default;

 private:
  static_assert(std::size(diagnosis_codes) <= 64);
  static constexpr std::uint64_t bit(diagnosis code) {
    return std::uint64_t{1} << static_cast<unsigned>(code);
  }
  static constexpr diagnosis_set of_bits(std::uint64_t bits) {
    diagnosis_set made;
    made.bits_ = bits;
    return made;
  }

  std::uint64_t bits_ = 0;
};

// In the order in which they are told.
inline std::vector<diagnosis> all_of(const diagnosis_set& codes) {
  std::vector<diagnosis> all;
  for (std::size_t i = 0; i < std::size(diagnosis_codes); ++i) {
    if (codes.has(static_cast<diagnosis>(i))) all.push_back(static_cast<diagnosis>(i));
  }
  return all;
}

// What a way over atomics can lack.
inline constexpr diagnosis_set lacks_of_ways = {
    diagnosis::missing_acquire, diagnosis::missing_release, diagnosis::scope_too_narrow,
    diagnosis::missing_barrier_before, diagnosis::missing_barrier_after};

// What no barrier, and no atomic in its place, has ordered.
inline constexpr diagnosis_set missing_barriers = {diagnosis::missing_syncwarp,
                                                   diagnosis::missing_syncthreads};
// It is said of two accesses, and is no reason for a race.
inline constexpr diagnosis_set of_volatile = {diagnosis::volatile_is_no_synchronisation};

// Whether what would lack all that a signal has, a release, an acquire and the barriers of both
// blocks, was meant as none: it is an atomic that happened to lie between the two threads.
constexpr bool is_no_signal(const diagnosis_set& lacks) {
  constexpr diagnosis_set all = {diagnosis::missing_acquire, diagnosis::missing_release,
                                 diagnosis::missing_barrier_before,
                                 diagnosis::missing_barrier_after};
  return lacks.common_with(all) == all;
}

enum class operation { read, write, atomic_load, atomic_store, atomic_update };

constexpr bool is_atomic(operation what) {
  return what == operation::atomic_load || what == operation::atomic_store ||
         what == operation::atomic_update;
}
constexpr bool writes(operation what) {
  return what != operation::read && what != operation::atomic_load;
}

// The work of an access that races with another work's: see order/device_works.hpp.
struct racing_work {
  cpu_backend::work_kind kind = cpu_backend::work_kind::host;
  std::string name;    // of a kernel
  std::string stream;  // "stream copies", "the default stream"; nothing of the host
  source_line at;      // where it was given to the stream

  bool is_host() const { return kind == cpu_backend::work_kind::host; }
};

// One of two accesses.
struct racing_access {
  operation what = operation::read;
  scope within = scope::device;  // of an atomic
  bool is_volatile = false;
  bool has_thread_scope = false;  // a plain one, to others, by an atomic of thread scope
  unsigned bytes = 0;             // of an atomic
  thread_name thread{};
  uint3 block_index{};
  uint3 thread_index{};
  place_number place = 0;
  source_line at;
  std::optional<racing_work> work;  // of neither of the two, or of both
};

// Of a thread in its block, or of a block in its grid.
inline uint3 index_of(std::uint64_t number, const dim3& size) {
  const auto part = [](std::uint64_t value) { return static_cast<unsigned>(value); };
  return {part(number % size.x), part(number / size.x % size.y), part(number / size.x / size.y)};
}

inline bool is_same(const uint3& left, const uint3& right) {
  return left.x == right.x && left.y == right.y && left.z == right.z;
}

inline bool same_warp(const racing_access& left, const racing_access& right) {
  constexpr unsigned warp_size = 32;
  return left.thread.block == right.thread.block &&
         left.thread.rank / warp_size == right.thread.rank / warp_size;
}

// An atomic that a diagnosis names, or a volatile access instead of it.
struct synchronizing_operation {
  bool known = false;
  bool is_volatile = false;
  std::uint32_t rank = 0;
  uint3 thread_index{};
  place_number place = 0;
  source_line at;
};

// What a thread did on the way from the one access of a race to the other.
struct chain_step {
  enum class kind { fence, atomic, barrier, warp_barrier };
  kind what = kind::atomic;
  operation does = operation::atomic_update;  // an atomic
  bool is_volatile = false;                   // a volatile access instead of an atomic
  scope within = scope::device;
  bool in_observers_block = false;
  std::uint32_t rank = 0;  // but for barriers, to which both threads of their block come
  place_number place = 0;
  source_line at;
};

// The way over which the one access could have come to be before the other, in its order: what the
// publisher's block did, an atomic last, and what the observer's block did, an atomic first.
// Nothing where there is none that lacks just what the diagnosis says. A single barrier is the last
// one that both threads, of one block, came to before.
struct chain {
  std::vector<chain_step> steps;
  std::uint32_t updates_between = 0;  // by which the value was handed on between the two atomics

  bool has_signal() const { return steps.size() > 1; }
};

// The numbers in their blocks of the threads that race at two lines.
struct racing_ranks {
  bool are_equal = true;  // of both threads, each time
  std::uint32_t least = ~std::uint32_t{0}, largest = 0;

  void add(thread_name one, thread_name other) {
    are_equal &= one.rank == other.rank && one.block != other.block;
    least = std::min(least, one.rank);
    largest = std::max(largest, one.rank);
  }
};

// A race as a sequence diagram: the threads that take part, what they did, and what orders it or
// would have to. `cudacheck check --picture` draws it.
struct drawn_chain {
  struct lane {                      // a thread, or a work
    std::vector<std::string> roles;  // "writes", "signals", "observes", "reads", ...
    uint3 block{};
    uint3 thread{};
    std::string work;  // "kernel scale in stream copies"
  };
  struct event {
    std::size_t lane = 0;
    std::string kind;  // "access", "fence", "atomic", "barrier"
    std::string does;  // what the thread did: "writes", "fences at block scope", ...
    source_line location;
  };
  struct arrow {
    // "barrier"; "signal" from a release to an acquire, or between the two atomics if it lacks
    // something; "order" between the two accesses.
    std::string kind;
    std::size_t from = 0, to = 0;       // events
    std::uint32_t updates_between = 0;  // atomics of other threads that handed the signal on
    // Nothing where what is at `from` did happen before what is at `to`; no_synchronisation where
    // nothing at all connects the two.
    diagnosis_set lacks;
  };

  std::vector<lane> lanes;  // in the order of the way from the one access to the other
  // Those of one lane in the order in which its thread did them. What two lanes did is ordered by
  // arrows alone.
  std::vector<event> events;
  std::vector<arrow> arrows;
};

// Two instructions of one thread, of which the second one writes what the first one has read by a
// plain access.
struct plain_update {
  place_number read = 0;
  place_number write = 0;
  bool is_atomic = false;  // the second one

  auto operator<=>(const plain_update&) const = default;
};

// What was accessed, in few words.
struct element_name {
  std::string text;  // "bins[17]", "allocation 1, element 17"
  // Its number in the launch's dynamic shared memory, whose name only the source knows.
  std::optional<std::uint64_t> in_dynamic_memory;
};

// What is no race has a diagnosis of its own, in this order.
enum class mistake {
  race,
  unwritten_read,
  outside,
  written_constant,
  local_of_another,
  atomic_on_local,
  ended_lane,
  read_only_load,
  two_barriers,
  unwritten_use
};
constexpr diagnosis code_of(mistake what) {
  return diagnosis(int(diagnosis::unwritten_memory) + int(what) - int(mistake::unwritten_read));
}
static_assert(code_of(mistake::unwritten_use) == diagnosis::unwritten_use);

// Read from a JSON file, it has no place numbers and no steps.
struct finding {
  mistake what = mistake::race;
  racing_access first;   // of a race: the earlier one; of a read-only load: the write
  racing_access second;  // of a race: the later one; of anything else: the only one, or the load
  std::string memory;    // "global memory", ...
  std::string object;    // "element 17 of ..."
  element_name element;
  std::string parameter;  // of a read-only load that is none by __ldg(): the pointer
  diagnosis_set lacks;
  // The strong write that would have to publish what the first one did, and the strong read by
  // which the second one's block has seen it.
  synchronizing_operation releaser, acquirer;
  // A load by one of the two threads, before its access, that got an older value of its word. If
  // `in_observers_block`, it is by the second one's thread.
  std::optional<chain_step> older_load;
  // What else a diagnosis goes by: the atomic or fence whose scope is too narrow, the store that
  // ends a release sequence, the atomic that takes a lock, the last barrier before a release.
  std::optional<chain_step> cause;
  // If both threads may hold a lock, and not the same: what would have taken the second one's.
  std::optional<chain_step> cause_of_second;
  racing_ranks ranks;
  // The second one's block has signalled before the second access came.
  bool signals_early = false;
  chain between;
  std::uint64_t count = 1;  // of findings at these two places with this diagnosis

  // ---- Known when the run is over and the places' lines are known: see report/locating.cpp.
  drawn_chain drawn;  // of a race
  // Threads of different blocks race at these lines, too, and nothing orders them.
  bool also_between_blocks = false;
  // One `if` decides which of the two lines a thread comes to: no barrier stands between them.
  bool in_two_branches = false;
  std::uint64_t seed = 0;         // of the schedule that has this very pair of accesses
  std::set<std::uint64_t> seeds;  // of all that have a finding of this diagnosis at these lines

  const racing_access& publisher() const { return signals_early ? second : first; }
  const racing_access& observer() const { return signals_early ? first : second; }
  // Where just one of the two is atomic, or reads.
  const racing_access& plain_one() const { return is_atomic(first.what) ? second : first; }
  const racing_access& atomic_one() const { return is_atomic(first.what) ? first : second; }
  const racing_access& reader() const { return first.what == operation::read ? first : second; }
  const racing_access& writer() const { return first.what == operation::read ? second : first; }
  // Takes back what was found of a way: it was meant as none.
  void forget_way() {
    lacks = {};
    releaser = acquirer = {};
    between = {};
    cause.reset();
    cause_of_second.reset();
  }

  // What it is called in a report: never nothing.
  diagnosis_set codes_to_tell() const {
    if (what != mistake::race) return {code_of(what)};
    return lacks.empty() ? diagnosis_set{diagnosis::no_synchronisation} : lacks;
  }

  bool has_two_accesses() const {
    return what == mistake::race || what == mistake::read_only_load ||
           what == mistake::two_barriers;
  }
  bool is_between_works() const { return first.work && second.work; }
  bool is_between_blocks() const {
    return is_between_works() || !is_same(first.block_index, second.block_index);
  }
  // Whether only the strict reading of the memory model forbids it. That an access is volatile is
  // said, too, and takes nothing away.
  bool is_strict() const {
    constexpr diagnosis_set strict = {diagnosis::missing_acquire, diagnosis::only_a_fence_acquires,
                                      diagnosis::plain_mixed_with_atomic,
                                      diagnosis::volatile_is_no_synchronisation};
    return what == mistake::race && lacks.has(diagnosis::missing_acquire) &&
           lacks.without(strict).empty();
  }
};

// One diagnosis of one element, at one pair of lines or several.
struct element_findings {
  finding shown;
  std::vector<finding> lesser;  // at the shown lines, and lacking only a part of it
  std::vector<std::pair<source_line, source_line>> other_lines;
  std::uint64_t count = 0;        // of all
  std::set<std::uint64_t> seeds;  // of all
};

}  // namespace racecheck
