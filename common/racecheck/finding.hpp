// SPDX-License-Identifier: MIT
// What the race checker has found, before it is put into words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "racecheck/shadow.hpp"
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
  bool acquire = false;         // an atomic read what the other block released, and did not acquire
  bool release = false;         // nothing was released by the atomic that was read
  bool wider_scope = false;     // an atomic or a fence at block scope, between two blocks
  bool barrier_before = false;  // before the atomic that releases for the whole block
  bool barrier_after = false;   // after the atomic that acquires for the whole block
  bool syncthreads = false;     // two threads of one block
  bool syncwarp = false;        // two threads of one warp
  bool atomicity = false;       // one access is atomic and the other is not
  bool volatile_is_no_atomic = false;

  bool unknown = false;  // so many atomics that it was not worked out

  bool anything() const {
    return acquire || release || wider_scope || barrier_before || barrier_after || syncthreads ||
           syncwarp || atomicity || volatile_is_no_atomic || unknown;
  }
  bool only_acquire() const {
    missing rest = *this;
    rest.acquire = rest.atomicity = false;
    return acquire && !rest.anything();
  }
};

struct witness {  // an atomic or a fence that a diagnosis names
  bool known = false;
  std::uint32_t rank = 0;
  place_number place = 0;
};

enum class mistake { race, unwritten_read, outside };

struct finding {
  mistake what = mistake::race;
  party first;         // of a race: the earlier one
  party second;        // of a race: the later one; of anything else: the only one
  std::string memory;  // "global memory", ...
  std::string object;  // "element 17 of ..."
  missing lacks;
  witness releaser;         // the last strong write of the first one's block
  witness acquirer;         // the last strong read of the second one's block
  std::uint64_t count = 1;  // of findings at these two places
};

}  // namespace racecheck
