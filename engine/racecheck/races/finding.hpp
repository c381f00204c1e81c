// SPDX-License-Identifier: MIT
// What the race checker has found, before it is put into words.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/order/synchronization.hpp"
#include "racecheck/races/diagnosis_table.hpp"
#include "vector_types.h"

namespace racecheck {

inline const diagnosis_row& row_of(diagnosis code) {
  return diagnosis_table[static_cast<std::size_t>(code)];
}

// What a race lacks, as a set over the table of diagnoses (diagnoses.json). It is empty if nothing
// connects the two threads.
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
  static_assert(diagnosis_table.size() <= 64);
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

// What a way over atomics can lack.
inline constexpr diagnosis_set lacks_of_ways = {
    diagnosis::missing_acquire, diagnosis::missing_release, diagnosis::scope_too_narrow,
    diagnosis::missing_barrier_before, diagnosis::missing_barrier_after};

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

// One of two accesses.
struct party {
  operation what = operation::read;
  scope within = scope::device;  // of an atomic
  bool is_volatile = false;
  bool has_thread_scope = false;  // a plain one, to others, by an atomic of thread scope
  unsigned bytes = 0;             // of an atomic
  thread_name thread{};
  uint3 block_index{};
  uint3 thread_index{};
  place_number place = 0;
};

inline bool is_same(const uint3& left, const uint3& right) {
  return left.x == right.x && left.y == right.y && left.z == right.z;
}

inline bool same_warp(const party& left, const party& right) {
  constexpr unsigned warp_size = 32;
  return left.thread.block == right.thread.block &&
         left.thread.rank / warp_size == right.thread.rank / warp_size;
}

struct witness {  // an atomic that a diagnosis names, or a volatile access in its place
  bool known = false;
  bool is_volatile = false;
  std::uint32_t rank = 0;
  uint3 thread_index{};
  place_number place = 0;
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

enum class mistake { race, unwritten_read, outside };

struct finding {
  mistake what = mistake::race;
  party first;         // of a race: the earlier one
  party second;        // of a race: the later one; of anything else: the only one
  std::string memory;  // "global memory", ...
  std::string object;  // "element 17 of ..."
  element_name element;
  diagnosis_set lacks;
  witness releaser;  // the strong write that would have to publish what the first one did
  witness acquirer;  // the strong read by which the second one's block has seen it
  // A load by one of the two threads, before its access, that got an older value of its word. If
  // `in_observers_block`, it is by the second one's thread.
  std::optional<chain_step> older_load;
  // What else a diagnosis goes by: the atomic or fence whose scope is too narrow, the store that
  // ends a release sequence, the atomic that takes a lock, the last barrier before a release.
  std::optional<chain_step> cause;
  // The second one's block has signalled before the second access came.
  bool is_hasty = false;
  chain between;
  std::uint64_t count = 1;  // of findings at these two places with this diagnosis

  const party& publisher() const { return is_hasty ? second : first; }
  const party& observer() const { return is_hasty ? first : second; }

  // What it is called in a report: never nothing.
  diagnosis_set codes_to_tell() const {
    if (what == mistake::unwritten_read) return {diagnosis::unwritten_memory};
    if (what == mistake::outside) return {diagnosis::outside_of_the_allocation};
    return lacks.empty() ? diagnosis_set{diagnosis::no_synchronisation} : lacks;
  }

  bool is_between_blocks() const { return !is_same(first.block_index, second.block_index); }
  // Of what only the strict reading of the memory model forbids. That an access is volatile is
  // said, too, and takes nothing away.
  bool is_strict() const {
    constexpr diagnosis_set strict = {diagnosis::missing_acquire, diagnosis::only_a_fence_acquires,
                                      diagnosis::plain_mixed_with_atomic,
                                      diagnosis::volatile_is_no_synchronisation};
    return what == mistake::race && lacks.has(diagnosis::missing_acquire) &&
           lacks.without(strict).empty();
  }
};

}  // namespace racecheck
