// SPDX-License-Identifier: MIT
// What the clocks know of threads, blocks and the places in memory that carry synchronisation.
//
// There are several worlds. The strict one is the program as it stands. In each other one something
// that the program may lack is taken to be there (an acquire, a release, a wider scope, a barrier):
// where two accesses race in the strict world and are ordered in another one, it is known what is
// missing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "racecheck/order/knowledge.hpp"

namespace racecheck {

struct world {
  bool operator==(const world&) const = default;

  bool acquires = false;  // every atomic that reads acquires
  bool fences = false;    // and a fence stands after it, which sees what others' fences publish
  bool releases = false;  // every atomic that writes releases
  bool widens = false;    // every scope is the device
  bool block_arrives = false;  // a barrier stands before everything that releases

  // Whether nothing but an acquire is taken to be there.
  bool only_acquires() const { return acquires && !releases && !widens && !block_arrives; }
};

// The strict world, and then from the smallest repair to the largest. A scope is the first: whoever
// wrote a fence of a block knew that one is needed there, and a wider one is the smaller change.
inline constexpr std::array worlds = {
    world{},
    world{.widens = true},
    world{.acquires = true},
    world{.block_arrives = true},
    world{.releases = true},
    world{.acquires = true, .fences = true},
    world{.acquires = true, .widens = true},
    world{.acquires = true, .releases = true},
    world{.acquires = true, .block_arrives = true},
    world{.acquires = true, .releases = true, .block_arrives = true},
    world{.acquires = true, .releases = true, .widens = true, .block_arrives = true},
};

// A place in memory that atomics or volatile accesses have used, as far as it carries
// synchronisation.
struct message {
  struct in_world {
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
  std::unique_ptr<in_world[]> in;  // one for each world, once a write hands something over

  observation last_write() const { return {location, chain, position}; }
};

struct thread_state {
  struct handed_on {  // to or from one location, by an operation that the pattern may continue
    std::uint32_t location;
    shared<knowledge> device;
    shared<knowledge> block;
    bool device_is_joined = false;  // by an acquire, since it was last added to
    bool block_is_joined = false;
  };
  struct in_world {
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
  epoch now = 0;
  // One for each world. Most threads neither fence nor acquire: they have none, and know what their
  // block knows.
  std::unique_ptr<in_world[]> own_state;

  const knowledge* fork(unsigned world) const {
    return own_state ? own_state[world].own.get() : nullptr;
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
  std::vector<shared<knowledge>> base;  // one for each world; nothing: empty
  std::vector<thread_state> threads;
  std::vector<unsigned> arrived;
  unsigned grid_barriers = 0;  // that it has passed
};

}  // namespace racecheck
