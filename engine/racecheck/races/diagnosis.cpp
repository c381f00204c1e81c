// SPDX-License-Identifier: MIT
#include "racecheck/races/finding_collection.hpp"

#include <optional>

namespace racecheck {
namespace {

// Rules that need no assumptions.
diagnosis_set lacks_by_kind(const racing_access& earlier, const racing_access& later) {
  if (is_atomic(earlier.what) && is_atomic(later.what) && earlier.bytes != later.bytes) {
    return {diagnosis::two_sizes};
  }
  diagnosis_set lacks;
  if (lacks_scope_by_kind(earlier, later)) {
    lacks.add(diagnosis::scope_too_narrow);
    lacks.add(diagnosis::scope_of_one_thread, earlier.has_thread_scope || later.has_thread_scope);
    return lacks;
  }
  lacks.add(diagnosis::volatile_is_no_synchronisation, earlier.is_volatile && later.is_volatile);
  lacks.add(diagnosis::plain_mixed_with_atomic, is_atomic(earlier.what) != is_atomic(later.what));
  return lacks;
}

diagnosis_set lacks_under(const assumptions& assumed) {
  diagnosis_set lacks;
  lacks.add(diagnosis::missing_acquire, assumed.acquires);
  lacks.add(diagnosis::only_a_fence_acquires, assumed.fences);
  lacks.add(diagnosis::missing_release, assumed.releases);
  lacks.add(diagnosis::scope_too_narrow, assumed.widens);
  lacks.add(diagnosis::missing_barrier_before, assumed.block_arrives);
  return lacks;
}

// What the program lacks according to the smallest assumption that orders the two; nothing if none
// does.
std::optional<diagnosis_set> lacks_by_assumptions(launch_clocks& clocks, const block_state& block,
                                                  const thread_state& by,
                                                  const racing_access& earlier, epoch earlier_at,
                                                  bool same_block) {
  const auto ordered = [&](unsigned assumption) {
    return clocks.before_under(assumption, block, by, earlier.thread, earlier_at);
  };
  // Another thread of the block knows: a barrier between the two of them is missing.
  const auto ordered_for_block = [&](unsigned assumption) {
    return !same_block && clocks.before_any_under(assumption, block, earlier.thread, earlier_at);
  };
  // What the last one does not order, none does. Whether it is known is asked last: it may be given
  // up while the clocks under all assumptions are worked out, for the first of these questions.
  constexpr auto last = static_cast<unsigned>(assumed_repairs.size() - 1);
  if (!ordered(last) && !ordered_for_block(last) && clocks.knows_assumption(last))
    return std::nullopt;
  for (unsigned assumption = 0; assumption < assumed_repairs.size(); ++assumption) {
    if (same_block && assumed_repairs[assumption].block_arrives) continue;
    const bool by_itself = assumption != 0 && ordered(assumption);
    if (!by_itself && !ordered_for_block(assumption)) continue;
    diagnosis_set lacks = lacks_under(assumed_repairs[assumption]);
    lacks.add(diagnosis::missing_barrier_after, !by_itself);
    return lacks;
  }
  return std::nullopt;
}

void add_lacks(diagnosis_set& to, const synchronization_log::way& of) {
  to.add(of.lacks);
  to.add(diagnosis::only_a_fence_acquires, of.by_own_fence && to.has(diagnosis::missing_acquire));
}

}  // namespace

bool lacks_scope_by_kind(const racing_access& earlier, const racing_access& later) {
  const bool both_atomic = is_atomic(earlier.what) && is_atomic(later.what);
  const auto is_narrow = [](const racing_access& of) {
    return is_atomic(of.what) && of.within == scope::block;
  };
  if (earlier.has_thread_scope || later.has_thread_scope) return true;
  // An atomic at block scope is none for another block; two at device scope would not race at all.
  return both_atomic ||
         (earlier.thread.block != later.thread.block && (is_narrow(earlier) || is_narrow(later)));
}

diagnosis_set diagnose(launch_clocks& clocks, const synchronization_log& log,
                       const block_state& block, const thread_state& by,
                       const racing_access& earlier, epoch earlier_at, const racing_access& later,
                       std::uint32_t word) {
  diagnosis_set lacks = lacks_by_kind(earlier, later);
  if (lacks.has(diagnosis::scope_too_narrow) || lacks.has(diagnosis::two_sizes)) return lacks;
  if (lacks.has(diagnosis::plain_mixed_with_atomic)) {
    // Over the very word that they access nothing is to be repaired but that one access is plain.
    const auto way = log.find_way(earlier.thread, earlier_at, later.thread, {}, word);
    if (way) add_lacks(lacks, *way);
    return lacks;
  }
  const bool same_block = earlier.thread.block == later.thread.block;
  const auto by_assumptions =
      lacks_by_assumptions(clocks, block, by, earlier, earlier_at, same_block);
  constexpr diagnosis_set much = {diagnosis::missing_acquire, diagnosis::missing_barrier_before};
  const bool is_much = by_assumptions && by_assumptions->common_with(much) == much;
  // An assumption that was given up might have said less: the clocks of the one with fences grow
  // fastest.
  if (!clocks.knows_all_assumptions() && (!by_assumptions || is_much)) {
    const auto way = log.find_way(earlier.thread, earlier_at, later.thread);
    const bool is_told_by_way =
        way && (by_assumptions ? way->lacks.is_part_of(by_assumptions->common_with(lacks_of_ways))
                               : !way->lacks.empty());
    if (is_told_by_way) {
      add_lacks(lacks, *way);
      return lacks;
    }
    // A way that lacks nothing contradicts the clocks, and a log with gaps proves nothing.
    if (!by_assumptions && !same_block) {
      lacks.add(diagnosis::not_diagnosed, way || !log.is_whole());
      return lacks;
    }
  }
  // What other threads have seen of a volatile word that two of them use is no way to it.
  const bool is_of_word = word != 0 && !same_block && by_assumptions && log.is_whole() &&
                          !log.find_way(earlier.thread, earlier_at, later.thread, {}, word);
  if (is_of_word) return lacks;
  if (by_assumptions) {
    lacks.add(*by_assumptions);
  } else if (same_block) {
    lacks.add(same_warp(earlier, later) ? diagnosis::missing_syncwarp
                                        : diagnosis::missing_syncthreads);
  }
  return lacks;
}

}  // namespace racecheck
