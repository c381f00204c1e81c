// SPDX-License-Identifier: MIT
// The clocks of one launch. docs/racecheck.md gives the rules that the functions here follow, under
// the same names.
//
// There are several worlds. The strict one is the program as it stands. In each other one something
// that the program may lack is taken to be there (an acquire, a release, a wider scope, a barrier):
// where two accesses race in the strict world and are ordered in another one, it is known what is
// missing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "racecheck/knowledge.hpp"

namespace racecheck {

struct world {
  bool operator==(const world&) const = default;

  bool acquires = false;       // every atomic that reads acquires
  bool releases = false;       // every atomic that writes releases
  bool widens = false;         // every scope is the device
  bool block_arrives = false;  // a barrier stands before everything that releases
};

// The strict world, and then from the smallest repair to the largest.
inline constexpr std::array worlds = {
    world{},
    world{.acquires = true},
    world{.widens = true},
    world{.block_arrives = true},
    world{.releases = true},
    world{.acquires = true, .releases = true},
    world{.acquires = true, .block_arrives = true},
    world{.acquires = true, .widens = true},
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
  // Everything that a thread of the block did up to here is before all that it does now.
  epoch floor = 0;
  std::vector<shared<knowledge>> base;  // one for each world; nothing: empty
  std::vector<thread_state> threads;
  std::vector<unsigned> arrived;
};

// The clocks of some worlds.
class synchronization {
 public:
  explicit synchronization(std::span<const world> of)
      : worlds_(of), given_up_(of.size()), at_grid_barrier_(of.size()) {}

  // Its first epoch is `start`: all that is older is before the kernel's start.
  void begin_launch(epoch start);
  epoch launch_start() const { return launch_start_; }
  epoch last_epoch() const { return counter_; }
  std::uint32_t block_of(epoch at) const { return blocks_of_epochs_[at - launch_start_]; }
  void begin_block(block_state& block, std::uint32_t number, unsigned threads);

  void fence(block_state& block, thread_state& by, scope within, bool sequentially_consistent);
  // The reading and the writing half of a strong operation, in this order for a read-modify-write.
  void strong_read(block_state& block, thread_state& by, const message& at, scope within,
                   bool acquires, bool updates);
  void strong_write(block_state& block, thread_state& by, message& at, scope within, bool releases,
                    bool updates);
  void weak_write(const thread_state& by, message& at);

  void barrier(block_state& block);  // of block.arrived
  void warp_barrier(block_state& block, unsigned first_rank, unsigned lanes);
  void grid_barrier_arrives(block_state& block, thread_state& by);
  void grid_barrier_passes(block_state& block, thread_state& by);

  // Whether what `thread` did in epoch `at` is before what `by` does now, in the first world. (The
  // others take a barrier for granted that may not be there: see before_in.)
  bool before(const block_state& block, const thread_state& by, thread_name thread,
              epoch at) const {
    if (at < launch_start_ || thread == by.name) return true;
    if (thread.block == block.number && at <= block.floor) return true;
    const knowledge* fork = by.fork(0);
    const knowledge* knows = fork ? fork : block.base[0].get();
    return knows && knows->now.order.covers(thread, at);
  }
  // The same in any world, but for what the block's own barriers order; for the diagnosis. False in
  // a world that was given up.
  bool before_in(unsigned world, const block_state& block, const thread_state& by,
                 thread_name thread, epoch at) const;
  // Whether no world was given up because its clocks grew large.
  bool knows_all_worlds() const {
    return std::none_of(given_up_.begin(), given_up_.end(), [](bool gone) { return gone; });
  }
  const knowledge& current(const block_state& block, const thread_state& by, unsigned in) const;

 private:
  // Who takes an epoch is always of one block.
  epoch next(std::uint32_t block) {
    if (blocks_of_epochs_.size() == blocks_of_epochs_.capacity()) {
      blocks_of_epochs_.reserve(blocks_of_epochs_.size() * 5 / 4 + 256);
    }
    blocks_of_epochs_.push_back(block);
    return ++counter_;
  }
  thread_state::in_world& state_of(thread_state& by, unsigned in) {
    if (!by.own_state) by.own_state = std::make_unique<thread_state::in_world[]>(worlds_.size());
    return by.own_state[in];
  }
  // Copies what `by` shares with its block, so that it can be changed.
  knowledge& change(const block_state& block, thread_state& by, unsigned in);
  void see(const block_state& block, thread_state::in_world& state, std::uint32_t location,
           const shared<heads>& released);
  shared<heads> handed_over(const block_state& block, const thread_state::in_world& state,
                            std::uint32_t location, const shared<heads>& continued) const;
  // What `by` knows, with all that it has done itself.
  known with_itself(const block_state& block, const thread_state& by, unsigned in) const;
  bool in_use(unsigned in) const { return !given_up_[in]; }
  void watch_size(unsigned in, std::size_t size);

  std::span<const world> worlds_;
  epoch counter_ = 0;
  epoch launch_start_ = 0;
  std::vector<std::uint32_t> blocks_of_epochs_;  // of this launch
  std::vector<bool> given_up_;
  std::vector<knowledge> at_grid_barrier_;
  // The floors of all barriers of each block: also of those that are done.
  std::unordered_map<std::uint32_t, std::vector<epoch>> barriers_;
};

}  // namespace racecheck
