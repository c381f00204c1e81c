// SPDX-License-Identifier: MIT
// What synchronized in the running launch, in the order in which it happened. A race is looked up
// in it: which atomic of the one block should have published, and which of the other one has seen
// it. Then it is known which lines a diagnosis names, and what is missing along this one way.
//
// The clocks find more, ways over several blocks too, but they are given up where a launch has too
// many atomics. The log takes 16 bytes for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/events/places.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/races/finding.hpp"

namespace racecheck {

class synchronization_log {
 public:
  explicit synchronization_log(const launch_clocks& clocks) : clocks_(clocks) {}

  void begin_launch() { events_.clear(); }
  // `passed`: how many writes are later than the one that is read.
  void note_atomic(const thread_state& by, const region& in,
                   const cpu_backend::observer::atomic_operation& done, place_number place,
                   unsigned passed);
  // How many it is of the last one that was noted.
  void note_passed(unsigned passed);
  // A volatile access, which carries as much as a relaxed atomic.
  void note_volatile(const thread_state& by, const region& in, const std::byte* address,
                     bool writes, place_number place, unsigned passed);
  // The word is one that atomics use: what was handed on there ends with it.
  void note_plain_write(const thread_state& by, const region& in, const std::byte* address);
  void note_fence(const thread_state& by, scope within, fence_kind order, place_number place);
  // The block is past it, as are the warp's lanes past theirs.
  void note_barrier(const block_state& of, place_number place);
  void note_warp_barrier(const block_state& of, unsigned first_rank, unsigned lanes,
                         place_number place);

  // Whether there was room for all of it. If not, nothing is found.
  bool is_whole() const { return events_.size() < most_events; }

  // A number for the location of an atomic at `address`, by a thread of this block; never 0.
  static std::uint32_t location_of(const region& in, const std::byte* address, std::uint32_t block);

  // One way from a thread's access to another thread's, over a location that both blocks use.
  struct way {
    synchronizing_operation released;
    synchronizing_operation acquired;
    diagnosis_set lacks;  // nothing: what is on it would have done
    chain steps;
    // Whose scope is too narrow, or that ends the release sequence. Where a barrier is missing
    // before the release, the block's last one.
    std::optional<chain_step> cause;
    // Whether all of `steps` is surely before the access that relies on it.
    bool is_certain = true;
    // What releases, and which thread of the observing block acquires: it must know the release
    // where nothing is missing between the two atomics.
    thread_name released_by;
    epoch released_at = 0;
    std::uint32_t acquired_by = 0;
    // By a fence of the earlier thread's own, which only a fence on the other side continues.
    bool by_own_fence = false;
  };
  // One that lacks just `wanted`, as far as a way can lack it; else the one that lacks least. None
  // if nothing that the earlier thread's block has written since was seen by the later one's block,
  // or only at `excluded`, a location.
  std::optional<way> find_way(thread_name earlier, epoch earlier_at, thread_name later,
                              const diagnosis_set& wanted = {}, std::uint32_t excluded = 0) const;
  // One over what another thread of both threads' block has signalled to the later one, and that
  // lacks a barrier before it alone.
  std::optional<way> find_way_of_others(thread_name earlier, epoch earlier_at,
                                        thread_name later) const;
  // The same where the access that another thread of its block has published already only comes
  // now, by `later`, and what relies on it came before: `earlier`, in epoch `earlier_at`. Or where
  // `later` itself has signalled already, as `write_after_signal`.
  std::optional<way> find_early_way(thread_name earlier, epoch earlier_at, thread_name later,
                                    epoch now) const;
  // A release after which `earlier` accessed in epoch `earlier_at`, and which the later one's
  // thread has acquired: had the access come before it, nothing would be missing; it lacks
  // `access_after_release`. Else an atomic of which the same is true, but for the release and the
  // acquire; it lacks `write_after_signal`.
  std::optional<way> find_release_before(thread_name earlier, epoch earlier_at,
                                         thread_name later) const;
  // A way on which nothing is missing but that a third thread's store, the way's `cause`, has taken
  // the place of what was released.
  std::optional<way> find_ended_sequence(thread_name earlier, epoch earlier_at,
                                         thread_name later) const;
  // The last update by this thread before epoch `at` of a location that it has not written since:
  // if that took a lock, the thread holds it then.
  struct held {
    chain_step taken;
    std::uint32_t where = 0;
  };
  std::optional<held> find_held(thread_name thread, epoch at) const;
  // The last load by this thread before epoch `at` that got an older value of its word, and after
  // which the thread has not read the word again.
  std::optional<chain_step> find_older_load(thread_name thread, epoch at) const;
  // The last barrier that both threads of a block came to before what the one did in epoch `at`.
  std::optional<chain_step> find_common_barrier(thread_name one, epoch at, thread_name other) const;

 private:
  enum class kind : std::uint8_t { atomic, plain_write, fence, barrier, warp_barrier };
  struct event {
    // The thread's epoch when it did it, from the launch's start; of a barrier the epoch after it.
    std::uint32_t epoch_since_start = 0;
    std::uint32_t where = 0;  // a number for its address; of a warp's barrier its lanes
    place_number place = 0;
    std::uint32_t rank : rank_bits = 0;  // of a warp's barrier the first of its threads
    std::uint32_t passed : 4 = 0;
    kind what : 8 = kind::atomic;
    bool reads : 1 = false;     // of a fence: what others have published
    bool writes : 1 = false;    // of a fence: it publishes
    bool acquires : 1 = false;  // of a fence: sequentially consistent
    bool releases : 1 = false;
    bool at_block_scope : 1 = false;
    bool is_volatile : 1 = false;

    // Whether it is a barrier to which both come.
    bool joins(std::uint32_t one_rank, std::uint32_t other_rank) const;
  };
  static_assert(sizeof(event) == 16);
  static constexpr std::size_t most_events = std::size_t{1} << 20;

  struct search;

  void note(const event& what);
  // The last event that `is` is true of.
  template <class Is>
  std::optional<chain_step> find_last(Is is) const;
  static chain_step step_of(const event& of, bool in_observers_block);
  std::uint32_t block_of(const event& of) const {
    return clocks_.block_of(clocks_.launch_start() + of.epoch_since_start);
  }
  std::uint32_t since_start(epoch at) const {
    return static_cast<std::uint32_t>(at - clocks_.launch_start());
  }

  const launch_clocks& clocks_;
  std::vector<event> events_;
};

}  // namespace racecheck
