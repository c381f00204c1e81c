// SPDX-License-Identifier: MIT
// What the clocks know of threads, blocks and the places in memory that carry synchronisation.
//
// All of it is known several times: for the program as it stands, and under each of several
// assumptions that something is there which the program may lack (an acquire, a release, a wider
// scope, a barrier). Where two accesses race as the program stands, and are ordered under an
// assumption, it is known what is missing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "racecheck/order/knowledge.hpp"

namespace racecheck {

// What is taken to be there although the program may lack it; nothing: the program as it stands.
struct assumptions {
  bool operator==(const assumptions&) const = default;

  bool acquires = false;  // every atomic that reads acquires
  bool fences = false;    // and a fence stands after it, which sees what others' fences publish
  bool releases = false;  // every atomic that writes releases
  bool widens = false;    // every scope is the device
  bool block_arrives = false;  // a barrier stands before everything that releases

  // Whether nothing but an acquire is taken to be there.
  bool only_acquires() const { return acquires && !releases && !widens && !block_arrives; }
};

// None, and then from the smallest repair to the largest. An index of this array is called
// `assumption` everywhere. A scope is the first: whoever wrote a fence of a block knew that one is
// needed there, and a wider one is the smaller change.
inline constexpr std::array assumed_repairs = {
    assumptions{},
    assumptions{.widens = true},
    assumptions{.acquires = true},
    assumptions{.block_arrives = true},
    assumptions{.releases = true},
    assumptions{.acquires = true, .fences = true},
    assumptions{.acquires = true, .widens = true},
    assumptions{.acquires = true, .releases = true},
    assumptions{.acquires = true, .block_arrives = true},
    assumptions{.acquires = true, .releases = true, .block_arrives = true},
    assumptions{.acquires = true, .releases = true, .widens = true, .block_arrives = true},
};

// A place in memory that atomics or volatile accesses have used, as far as it carries
// synchronisation.
struct message {
  struct under_assumption {
    shared<heads> released;
    sharing<fences> fences_of_write;  // those before the last write
    sharing<fences> fences_of_chain;  // and before the chain of read-modify-writes that it ends
  };
  std::uint32_t location = 0;
  bool written = false;  // in this launch
  bool strong = false;   // the last write
  scope within = scope::device;
  thread_name writer{};
  std::uint32_t chain = 0, position = 0;
  std::unique_ptr<under_assumption[]> by_assumption;  // nothing until a write hands something over

  observation last_write() const { return {location, chain, position}; }
};

// `assumptions`: how many it is known under.
inline message copy_of(const message& from, std::size_t assumptions) {
  message made;
  made.location = from.location;
  made.written = from.written;
  made.strong = from.strong;
  made.within = from.within;
  made.writer = from.writer;
  made.chain = from.chain;
  made.position = from.position;
  if (from.by_assumption) {
    made.by_assumption = std::make_unique<message::under_assumption[]>(assumptions);
    std::copy_n(from.by_assumption.get(), assumptions, made.by_assumption.get());
  }
  return made;
}

struct thread_state {
  struct handed_on {  // to or from one location, by an operation that the pattern may continue
    std::uint32_t location;
    shared<knowledge> device;
    shared<knowledge> block;
    bool device_is_joined = false;  // by an acquire, since it was last added to
    bool block_is_joined = false;
  };
  struct under_assumption {
    shared<knowledge> own;            // nothing: what the block has known since its last barrier
    shared<knowledge> fenced_device;  // PUB: its knowledge at its last fence of each scope
    shared<knowledge> fenced_block;
    knowledge pending_device;  // PEND: heads seen by strong reads, until a fence of this thread
    knowledge pending_block;
    std::vector<handed_on> released;  // by earlier releases at a location
    std::vector<handed_on> seen;      // by earlier strong reads of a location
    shared<heads> last_seen;          // of the last strong read: the same again says nothing new
  };

  thread_name name{};
  epoch current_epoch = 0;
  // One for each assumption. Most threads neither fence nor acquire: they have none, and know what
  // their block knows.
  std::unique_ptr<under_assumption[]> own_state;

  const knowledge* fork(unsigned assumption) const {
    return own_state ? own_state[assumption].own.get() : nullptr;
  }
};

struct block_state {
  std::uint32_t number = 0;
  // Everything that a thread of the block did up to here is before all that it does now, but for
  // what threads did that have returned since, and did not come to the barriers after it.
  epoch floor = 0;
  std::vector<epoch> last_floor;  // empty if all threads came to all barriers; else one for each

  epoch floor_of(unsigned rank) const {
    return last_floor.empty() || floor < last_floor[rank] ? floor : last_floor[rank];
  }
  std::vector<shared<knowledge>> base;  // one for each assumption; nothing: empty
  std::vector<thread_state> threads;
  std::vector<unsigned> arrived;
  unsigned grid_barriers = 0;  // that it has passed
};

}  // namespace racecheck
