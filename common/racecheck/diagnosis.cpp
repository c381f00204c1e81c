// SPDX-License-Identifier: MIT
// What is missing between two accesses that race: the smallest repair under which they would have
// been ordered.
#include <algorithm>

#include "racecheck/checker.hpp"

namespace racecheck {

missing checker::diagnose(const thread_state& by, const party& earlier, epoch earlier_at,
                          const party& later) const {
  missing lacks;
  const bool both_atomic = is_atomic(earlier.what) && is_atomic(later.what);
  if (both_atomic) {
    // At device scope they would not race at all, and within one block neither.
    lacks.wider_scope = true;
    return lacks;
  }
  lacks.volatile_is_no_atomic = earlier.is_volatile && later.is_volatile;
  lacks.atomicity = is_atomic(earlier.what) != is_atomic(later.what);
  const block_state& block = block_->clocks;
  const bool same_block = earlier.thread.block == block.number;
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
  if (same_block && !lacks.atomicity) {
    constexpr unsigned warp_size = 32;
    const bool same_warp = earlier.thread.rank / warp_size == later.thread.rank / warp_size;
    (same_warp ? lacks.syncwarp : lacks.syncthreads) = true;
  }
  return lacks;
}

}  // namespace racecheck
