// SPDX-License-Identifier: MIT
// What is missing between two accesses that race: the smallest repair under which they would have
// been ordered.
#include <algorithm>

#include "racecheck/checker.hpp"

namespace racecheck {

missing checker::diagnose(const thread_state& by, const party& earlier, epoch earlier_at,
                          const party& later) {
  missing lacks;
  const bool both_atomic = is_atomic(earlier.what) && is_atomic(later.what);
  const bool same_block = earlier.thread.block == later.thread.block;
  const auto is_narrow = [](const party& of) {
    return is_atomic(of.what) && of.within == scope::block;
  };
  // An atomic at block scope is none for another block; two at device scope would not race at all.
  if (both_atomic || (!same_block && (is_narrow(earlier) || is_narrow(later)))) {
    lacks.wider_scope = true;
    return lacks;
  }
  lacks.volatile_is_no_atomic = earlier.is_volatile && later.is_volatile;
  lacks.atomicity = is_atomic(earlier.what) != is_atomic(later.what);
  const block_state& block = block_->clocks;
  const auto ordered = [&](unsigned in, const thread_state& thread) {
    return clocks_.before_in(in, block, thread, earlier.thread, earlier_at);
  };
  const auto take = [&](unsigned in, bool after) {
    lacks.acquire = worlds[in].acquires;
    lacks.release = worlds[in].releases;
    lacks.wider_scope = worlds[in].widens;
    lacks.barrier_before = worlds[in].block_arrives;
    lacks.barrier_after = after;
  };
  for (unsigned in = 0; in < worlds.size(); ++in) {
    if (same_block && worlds[in].block_arrives) continue;
    if (in != 0 && ordered(in, by)) {
      take(in, false);
      return lacks;
    }
    // Another thread of the block knows: a barrier between the two of them is missing.
    if (!same_block && std::any_of(block.threads.begin(), block.threads.end(),
                                   [&](const thread_state& each) { return ordered(in, each); })) {
      take(in, true);
      return lacks;
    }
  }
  if (!clocks_.knows_all_worlds()) {
    lacks.unknown = true;
    return lacks;
  }
  if (same_block && !lacks.atomicity) {
    (same_warp(earlier, later) ? lacks.syncwarp : lacks.syncthreads) = true;
  }
  return lacks;
}

}  // namespace racecheck
