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
#include <span>
#include <unordered_map>
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
// `assumption` everywhere. A scope is the first: where a fence of a block stands, its need is
// known, and a wider one is the smaller change.
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

// The clocks of one launch under each of some assumptions, which are named by their index.
// docs/racecheck.md gives the rules that the functions here follow, under the same names.
class synchronization {
 public:
  explicit synchronization(std::span<const assumptions> of)
      : assumptions_(of),
        given_up_(of.size()),
        at_grid_barrier_{std::vector<knowledge>(of.size()), std::vector<knowledge>(of.size())} {}

  // From here on fence.sc operations happen in the order in which they are executed: under the
  // last assumption an earlier one is before a later one, if their scopes let them. (Else only
  // where something shows in which order they are: a race must not be missed because of the
  // schedule.)
  // `exactly`: also those at block scope are noted from the launch's begin on.
  void order_sc_fences(bool exactly = false) {
    orders_sc_fences_ = true;
    notes_fences_of_block_ = exactly;
  }
  bool orders_sc_fences() const { return orders_sc_fences_; }
  // From here on a strong read may be of an earlier write than the last one.
  void keep_earlier_messages() { keeps_earlier_ = true; }
  static constexpr unsigned most_earlier = 8;  // of a location
  static constexpr std::size_t most_with_earlier = std::size_t{1} << 16;

  // Its first epoch is `start`: all that is older is before the kernel's start.
  void begin_launch(epoch start);
  epoch launch_start() const { return launch_start_; }
  epoch last_epoch() const { return counter_; }
  std::uint32_t block_of(epoch at) const { return blocks_of_epochs_[at - launch_start_]; }
  // `goes_on`: it is the block that the state is of, which knows what its first thread did.
  void begin_block(block_state& block, std::uint32_t number, unsigned threads,
                   bool goes_on = false);

  void fence(block_state& block, thread_state& by, scope within, fence_kind kind);
  // The reading and the writing half of a strong operation, in this order for a read-modify-write.
  // `older`: how many writes of the location are later than the one that is read.
  void strong_read(block_state& block, thread_state& by, const message& last, scope within,
                   bool acquires, bool updates, unsigned older = 0);
  void strong_write(block_state& block, thread_state& by, message& at, scope within, bool releases,
                    bool updates);
  void weak_write(const thread_state& by, message& at);

  void barrier(block_state& block);  // of block.arrived
  void warp_barrier(block_state& block, unsigned first_rank, unsigned lanes);
  void grid_barrier_arrives(block_state& block, thread_state& by);
  void grid_barrier_passes(block_state& block, thread_state& by);

  // Whether what `thread` did in epoch `at` is before what `by` does now, under the first
  // assumption or one that repairs nothing either. (Others take a barrier for granted that may not
  // be there: see before_under.)
  bool before(const block_state& block, const thread_state& by, thread_name thread, epoch at,
              unsigned assumption = 0) const {
    if (at < launch_start_ || thread == by.name) return true;
    if (thread.block == block.number && at <= block.floor_of(thread.rank)) return true;
    const knowledge* fork = by.fork(assumption);
    const knowledge* knows = fork ? fork : block.base[assumption].get();
    return knows && knows->happened_before.order.covers(thread, at);
  }
  // The same under any assumption, but for what the block's own barriers order; for the diagnosis.
  // False under one that was given up.
  bool before_under(unsigned assumption, const block_state& block, const thread_state& by,
                    thread_name thread, epoch at) const;
  // The same for any thread of the block.
  bool before_any_under(unsigned assumption, const block_state& block, thread_name thread,
                        epoch at) const;
  bool knows_assumption(unsigned assumption) const { return in_use(assumption); }
  // Whether no assumption was given up because its clocks grew large.
  bool knows_all_assumptions() const {
    return std::none_of(given_up_.begin(), given_up_.end(), [](bool gone) { return gone; });
  }
  const knowledge& current(const block_state& block, const thread_state& by,
                           unsigned assumption) const {
    if (const knowledge* fork = by.fork(assumption)) return *fork;
    return block.base[assumption] ? *block.base[assumption] : nothing;
  }

 private:
  static const knowledge nothing;

  // The threads that take an epoch are always of one block.
  epoch next(std::uint32_t block) {
    if (blocks_of_epochs_.size() == blocks_of_epochs_.capacity()) {
      blocks_of_epochs_.reserve(blocks_of_epochs_.size() * 5 / 4 + 256);
    }
    blocks_of_epochs_.push_back(block);
    return ++counter_;
  }
  thread_state::under_assumption& state_of(thread_state& by, unsigned assumption) {
    if (!by.own_state)
      by.own_state = std::make_unique<thread_state::under_assumption[]>(assumptions_.size());
    return by.own_state[assumption];
  }
  bool covers(unsigned assumption, const clock& order, thread_name thread, epoch at) const;
  // Copies what `by` shares with its block, so that it can be changed.
  knowledge& change(const block_state& block, thread_state& by, unsigned assumption);
  void see(const block_state& block, thread_state::under_assumption& state, std::uint32_t location,
           const shared<heads>& released);
  shared<heads> handed_over(const block_state& block, const thread_state::under_assumption& state,
                            std::uint32_t location, const shared<heads>& continued) const;
  void see_pending_fences(block_state& block, thread_state& by, unsigned assumption, scope within);
  void see_earlier_sc_fences(block_state& block, thread_state& by, unsigned assumption,
                             scope within);
  void note_sc_fence(const block_state& block, scope within, const known& now);
  // What `by` knows, with all that it has done itself.
  known with_itself(const block_state& block, thread_state& by, unsigned assumption);
  bool in_use(unsigned assumption) const { return !given_up_[assumption]; }
  bool orders_sc_fences_under(unsigned assumption) const {
    return orders_sc_fences_ && assumption + 1 == assumptions_.size();
  }
  void keep_earlier(const message& last);
  bool may_give_up(unsigned assumption) const { return assumptions_[assumption] != assumptions{}; }
  void watch_size(unsigned assumption, std::size_t size);

  std::span<const assumptions> assumptions_;
  epoch counter_ = 0;
  epoch launch_start_ = 0;
  std::vector<std::uint32_t> blocks_of_epochs_;  // of this launch
  std::vector<bool> given_up_;
  // What the blocks know that have arrived at the barriers of even number, and of odd number. One
  // block may be at the next barrier before another has passed this one; none can be further on.
  std::array<std::vector<knowledge>, 2> at_grid_barrier_;
  bool orders_sc_fences_ = false;
  bool notes_fences_of_block_ = false;
  bool keeps_earlier_ = false;
  std::unordered_map<std::uint32_t, std::vector<message>> earlier_;  // by location; newest last
  known at_sc_fences_;  // what those of device scope have known
  std::unordered_map<std::uint32_t, known> at_sc_fences_of_block_;  // and those of any scope
  // The floors of all barriers of each block: also of those that are done.
  std::unordered_map<std::uint32_t, std::vector<epoch>> barriers_;
};

}  // namespace racecheck
