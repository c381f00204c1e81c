// SPDX-License-Identifier: MIT
// What the race checker has found, before it is put into words.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/order/thread_state.hpp"
#include "vector_types.h"

namespace racecheck {

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
  thread_name thread{};
  uint3 block_index{};
  uint3 thread_index{};
  place_number place = 0;
};

inline bool same_warp(const party& left, const party& right) {
  constexpr unsigned warp_size = 32;
  return left.thread.block == right.thread.block &&
         left.thread.rank / warp_size == right.thread.rank / warp_size;
}

// What would have ordered the two accesses of a race. More than one can be missing at once.
struct missing {
  bool acquire = false;  // an atomic read what the other block released, and did not acquire
  bool only_by_fence =
      false;             // the acquire has to be a fence: the other's fence was not the atomic's
  bool release = false;  // nothing was released by the atomic that was read
  bool wider_scope = false;     // an atomic or a fence at block scope, between two blocks
  bool barrier_before = false;  // before the atomic that releases for the whole block
  bool barrier_after = false;   // after the atomic that acquires for the whole block
  bool syncthreads = false;     // two threads of one block
  bool syncwarp = false;        // two threads of one warp
  bool atomicity = false;       // one access is atomic and the other is not
  bool volatile_is_no_atomic = false;

  bool update = false;  // both threads read the element, change it and write it back

  bool unknown = false;  // so many atomics that it was not worked out

  auto operator<=>(const missing&) const = default;

  bool anything() const { return *this != missing{}; }
  // Whether mending all of `other`, which is more, mends this as well.
  bool is_part_of(const missing& other) const {
    const auto within = [](bool part, bool whole) { return !part || whole; };
    return anything() && *this != other && within(acquire, other.acquire) &&
           within(only_by_fence, other.only_by_fence) && within(release, other.release) &&
           within(wider_scope, other.wider_scope) && within(barrier_before, other.barrier_before) &&
           within(barrier_after, other.barrier_after) && within(syncthreads, other.syncthreads) &&
           within(syncwarp, other.syncwarp) && within(atomicity, other.atomicity) &&
           within(volatile_is_no_atomic, other.volatile_is_no_atomic) &&
           within(update, other.update) && within(unknown, other.unknown);
  }
  // What a way over atomics can lack.
  missing of_a_way() const {
    return {.acquire = acquire,
            .release = release,
            .wider_scope = wider_scope,
            .barrier_before = barrier_before,
            .barrier_after = barrier_after};
  }
  // How much is to be mended.
  int count() const {
    return acquire + release + wider_scope + barrier_before + barrier_after + syncthreads +
           syncwarp + atomicity + volatile_is_no_atomic + update + unknown;
  }
  // That an access is volatile is said, too, and takes nothing away.
  bool only_acquire() const {
    missing rest = *this;
    rest.acquire = rest.only_by_fence = rest.atomicity = rest.volatile_is_no_atomic = false;
    return acquire && !rest.anything();
  }
};

struct witness {  // an atomic that a diagnosis names
  bool known = false;
  std::uint32_t rank = 0;
  uint3 thread_index{};
  place_number place = 0;
};

// What a thread did on the way from the one access of a race to the other.
struct chain_step {
  enum class kind { fence, atomic, barrier, warp_barrier };
  kind what = kind::atomic;
  operation does = operation::atomic_update;  // an atomic
  bool is_volatile = false;                   // a volatile access in the place of an atomic
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

// Two instructions of one thread, of which the second one writes what the first one has read.
struct plain_update {
  place_number read = 0;
  place_number write = 0;

  auto operator<=>(const plain_update&) const = default;
};

enum class mistake { race, unwritten_read, outside };

struct finding {
  mistake what = mistake::race;
  party first;         // of a race: the earlier one
  party second;        // of a race: the later one; of anything else: the only one
  std::string memory;  // "global memory", ...
  std::string object;  // "element 17 of ..."
  // Its number in the launch's dynamic shared memory, whose name only the source knows.
  std::optional<std::uint64_t> element_of_dynamic_memory;
  missing lacks;
  witness releaser;  // the strong write that would have to publish what the first one did
  witness acquirer;  // the strong read by which the second one's block has seen it
  // The second one's block has signalled before the second access came.
  bool is_hasty = false;
  chain between;
  std::uint64_t count = 1;  // of findings at these two places with this diagnosis

  const party& publisher() const { return is_hasty ? second : first; }
  const party& observer() const { return is_hasty ? first : second; }

  bool is_between_blocks() const { return first.thread.block != second.thread.block; }
  // Of what only the strict reading of the memory model forbids.
  bool is_strict() const { return what == mistake::race && lacks.only_acquire(); }
};

}  // namespace racecheck
