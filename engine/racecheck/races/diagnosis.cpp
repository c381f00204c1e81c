// SPDX-License-Identifier: MIT
#include "racecheck/races/diagnosis.hpp"

namespace racecheck {
namespace {

// Rules that need no worlds.
missing lacks_by_kind(const party& earlier, const party& later) {
  missing lacks;
  if (lacks_scope_by_kind(earlier, later)) {
    lacks.wider_scope = true;
    return lacks;
  }
  lacks.volatile_is_no_atomic = earlier.is_volatile && later.is_volatile;
  lacks.atomicity = is_atomic(earlier.what) != is_atomic(later.what);
  return lacks;
}

void add(missing& to, const missing& lacks) {
  to.acquire = lacks.acquire;
  to.only_by_fence = lacks.only_by_fence;
  to.release = lacks.release;
  to.wider_scope = lacks.wider_scope;
  to.barrier_before = lacks.barrier_before;
  to.barrier_after = lacks.barrier_after;
}

// Whether the two are ordered in another world than the strict one; if so, what it takes for there.
bool add_by_worlds(missing& to, launch_clocks& clocks, const block_state& block,
                   const thread_state& by, const party& earlier, epoch earlier_at,
                   bool same_block) {
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
  if (!ordered(last) && !ordered_for_block(last) && clocks.knows_world(last)) return false;
  for (unsigned in = 0; in < worlds.size(); ++in) {
    if (same_block && worlds[in].block_arrives) continue;
    const bool by_itself = in != 0 && ordered(in);
    if (!by_itself && !ordered_for_block(in)) continue;
    add(to, {.acquire = worlds[in].acquires,
             .only_by_fence = worlds[in].fences,
             .release = worlds[in].releases,
             .wider_scope = worlds[in].widens,
             .barrier_before = worlds[in].block_arrives,
             .barrier_after = !by_itself});
    return true;
  }
  return false;
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

missing diagnose(launch_clocks& clocks, const synchronization_log& log, const block_state& block,
                 const thread_state& by, const party& earlier, epoch earlier_at,
                 const party& later) {
  missing lacks = lacks_by_kind(earlier, later);
  if (lacks.wider_scope) return lacks;
  const bool same_block = earlier.thread.block == later.thread.block;
  const bool is_known = add_by_worlds(lacks, clocks, block, by, earlier, earlier_at, same_block);
  // A world that was given up might have said less: the one with fences grows fastest.
  if (is_known && !(lacks.acquire && lacks.barrier_before)) return lacks;
  if (!clocks.knows_all_worlds()) {
    const auto way = log.find_way(earlier.thread, earlier_at, later.thread);
    const bool says_less = way && way->lacks.is_part_of(lacks.of_a_way());
    if (is_known ? says_less : way && way->lacks.anything()) {
      add(lacks, way->lacks);
      lacks.only_by_fence = lacks.acquire && way->by_own_fence;
      return lacks;
    }
    if (!is_known) lacks.unknown = way.has_value() || !log.is_whole();
  }
  if (is_known) return lacks;
  if (same_block && !lacks.atomicity) {
    (same_warp(earlier, later) ? lacks.syncwarp : lacks.syncthreads) = true;
    lacks.unknown = false;
  }
  return lacks;
}

}  // namespace racecheck
