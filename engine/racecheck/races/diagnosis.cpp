// SPDX-License-Identifier: MIT
#include "racecheck/races/diagnosis.hpp"

#include <optional>

namespace racecheck {
namespace {

// Rules that need no worlds.
diagnosis_set lacks_by_kind(const party& earlier, const party& later) {
  if (lacks_scope_by_kind(earlier, later)) return {diagnosis::scope_too_narrow};
  diagnosis_set lacks;
  lacks.add(diagnosis::volatile_is_no_synchronisation, earlier.is_volatile && later.is_volatile);
  lacks.add(diagnosis::plain_mixed_with_atomic, is_atomic(earlier.what) != is_atomic(later.what));
  return lacks;
}

diagnosis_set lacks_in(const world& assumed) {
  diagnosis_set lacks;
  lacks.add(diagnosis::missing_acquire, assumed.acquires);
  lacks.add(diagnosis::only_a_fence_acquires, assumed.fences);
  lacks.add(diagnosis::missing_release, assumed.releases);
  lacks.add(diagnosis::scope_too_narrow, assumed.widens);
  lacks.add(diagnosis::missing_barrier_before, assumed.block_arrives);
  return lacks;
}

// What it takes for the two to be ordered in another world than the strict one; nothing if none of
// them orders the two.
std::optional<diagnosis_set> lacks_by_worlds(launch_clocks& clocks, const block_state& block,
                                             const thread_state& by, const party& earlier,
                                             epoch earlier_at, bool same_block) {
  const auto ordered = [&](unsigned in) {
    return clocks.before_in(in, block, by, earlier.thread, earlier_at);
  };
  // Another thread of the block knows: a barrier between the two of them is missing.
  const auto ordered_for_block = [&](unsigned in) {
    return !same_block && clocks.before_any_in(in, block, earlier.thread, earlier_at);
  };
  // What the last one does not order, none does. Whether it is known is asked last: it may be given
  // up while the clocks of all worlds are worked out, for the first of these questions.
  constexpr auto last = static_cast<unsigned>(worlds.size() - 1);
  if (!ordered(last) && !ordered_for_block(last) && clocks.knows_world(last)) return std::nullopt;
  for (unsigned in = 0; in < worlds.size(); ++in) {
    if (same_block && worlds[in].block_arrives) continue;
    const bool by_itself = in != 0 && ordered(in);
    if (!by_itself && !ordered_for_block(in)) continue;
    diagnosis_set lacks = lacks_in(worlds[in]);
    lacks.add(diagnosis::missing_barrier_after, !by_itself);
    return lacks;
  }
  return std::nullopt;
}

}  // namespace

bool lacks_scope_by_kind(const party& earlier, const party& later) {
  const bool both_atomic = is_atomic(earlier.what) && is_atomic(later.what);
  const auto is_narrow = [](const party& of) {
    return is_atomic(of.what) && of.within == scope::block;
  };
  // An atomic at block scope is none for another block; two at device scope would not race at all.
  return both_atomic ||
         (earlier.thread.block != later.thread.block && (is_narrow(earlier) || is_narrow(later)));
}

diagnosis_set diagnose(launch_clocks& clocks, const synchronization_log& log,
                       const block_state& block, const thread_state& by, const party& earlier,
                       epoch earlier_at, const party& later) {
  diagnosis_set lacks = lacks_by_kind(earlier, later);
  if (lacks.has(diagnosis::scope_too_narrow)) return lacks;
  const bool same_block = earlier.thread.block == later.thread.block;
  const auto by_worlds = lacks_by_worlds(clocks, block, by, earlier, earlier_at, same_block);
  constexpr diagnosis_set much = {diagnosis::missing_acquire, diagnosis::missing_barrier_before};
  const bool is_much = by_worlds && by_worlds->common_with(much) == much;
  // A world that was given up might have said less: the one with fences grows fastest.
  if (!clocks.knows_all_worlds() && (!by_worlds || is_much)) {
    const auto way = log.find_way(earlier.thread, earlier_at, later.thread);
    const bool is_told_by_way =
        way && (by_worlds ? way->lacks.is_part_of(by_worlds->common_with(lacks_of_ways))
                          : !way->lacks.empty());
    if (is_told_by_way) {
      lacks.add(way->lacks);
      lacks.add(diagnosis::only_a_fence_acquires,
                way->by_own_fence && lacks.has(diagnosis::missing_acquire));
      return lacks;
    }
    // A way that lacks nothing contradicts the clocks, and a log with gaps proves nothing.
    if (!by_worlds && (!same_block || lacks.has(diagnosis::plain_mixed_with_atomic))) {
      lacks.add(diagnosis::not_diagnosed, way || !log.is_whole());
      return lacks;
    }
  }
  if (by_worlds) {
    lacks.add(*by_worlds);
  } else if (same_block && !lacks.has(diagnosis::plain_mixed_with_atomic)) {
    lacks.add(same_warp(earlier, later) ? diagnosis::missing_syncwarp
                                        : diagnosis::missing_syncthreads);
  }
  return lacks;
}

}  // namespace racecheck
