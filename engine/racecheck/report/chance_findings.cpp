// SPDX-License-Identifier: MIT
#include "racecheck/report/chance_findings.hpp"

#include <algorithm>
#include <map>

#include "racecheck/report/access_text.hpp"

namespace racecheck {

two_lines lines_of(const located_finding& of) {
  two_lines lines{place_text(of.first), place_text(of.second)};
  if (lines.second < lines.first) std::swap(lines.first, lines.second);
  return lines;
}

bool is_plain_alone(const finding& of) {
  constexpr diagnosis_set surely = {diagnosis::plain_look_before_atomic,
                                    diagnosis::lock_opened_by_plain_store};
  constexpr diagnosis_set plain = {diagnosis::plain_mixed_with_atomic,
                                   diagnosis::plain_store_beside_updates,
                                   diagnosis::volatile_is_no_synchronisation};
  if (of.lacks.has(diagnosis::plain_flag)) return true;
  return of.lacks.has(diagnosis::plain_mixed_with_atomic) &&
         of.lacks.without(plain).without(surely).empty() &&
         (of.is_between_blocks() || !of.lacks.common_with(surely).empty());
}

bool is_plain_for_all(const finding& of) {
  return is_plain_alone(of) &&
         (of.first.what == operation::read || of.lacks.has(diagnosis::plain_look_before_atomic) ||
          of.lacks.has(diagnosis::lock_opened_by_plain_store));
}

namespace {

// Whether `now` has another diagnosis than `known`, at the same lines, only because of what
// happened to lie between the two threads.
bool is_by_chance(const finding& now, const finding& known) {
  if (is_plain_for_all(known) && now.lacks.has(diagnosis::plain_mixed_with_atomic) &&
      (known.is_between_blocks() || !now.is_between_blocks())) {
    return &now != &known;
  }
  // Who writes after its signal does so for its own block's threads as well, and so far nothing
  // else has signalled that it has written.
  constexpr diagnosis_set late_signal = {diagnosis::write_after_signal};
  constexpr diagnosis_set barrier = {diagnosis::missing_syncwarp, diagnosis::missing_syncthreads};
  if (known.lacks == late_signal && known.what == mistake::race && now.what == mistake::race) {
    return now.lacks.without(lacks_of_ways.without({diagnosis::scope_too_narrow}))
        .without({diagnosis::only_a_fence_acquires})
        .without(barrier)
        .empty();
  }
  if (now.what != mistake::race || known.what != mistake::race ||
      now.is_between_blocks() != known.is_between_blocks()) {
    return false;
  }
  // Who does not wait for the barrier may come before all that it should wait for, and who accesses
  // after its release, after all that the other one does.
  constexpr diagnosis_set late[] = {{diagnosis::missing_barrier_after},
                                    {diagnosis::access_after_release},
                                    {diagnosis::read_between_two_signals},
                                    {diagnosis::plain_flag}};
  if (now.lacks.empty() && std::ranges::find(late, known.lacks) != std::end(late)) return true;
  // In a block where a barrier is missing, atomics that neither release nor acquire were not meant
  // to stand in for it.
  constexpr diagnosis_set signal = {diagnosis::missing_release, diagnosis::missing_acquire};
  if (!known.lacks.common_with(barrier).empty()) {
    return !now.is_between_blocks() && now.lacks.common_with(signal) == signal;
  }
  // Where nothing connects some of the threads, another thread's atomics that neither release nor
  // acquire were no signal of the others.
  constexpr diagnosis_set of_block = {diagnosis::missing_barrier_before,
                                      diagnosis::missing_barrier_after};
  if (known.lacks.empty() && now.is_between_blocks()) {
    return now.lacks.common_with(signal) == signal && !now.lacks.common_with(of_block).empty() &&
           now.lacks.without(lacks_of_ways).empty();
  }
  // That another thread of the block has acquired meanwhile, too late for this one, is no reason to
  // rely on it.
  constexpr diagnosis_set after = {diagnosis::missing_barrier_after};
  return now.lacks.common_with(after) == after && known.lacks.common_with(after).empty() &&
         known.lacks.has(diagnosis::missing_acquire) &&
         !now.lacks.has(diagnosis::missing_acquire) &&
         now.lacks.without(after).is_part_of(known.lacks);
}

}  // namespace

void merge_chance_findings(std::vector<located_finding>& all) {
  std::map<two_lines, std::vector<located_finding*>> at_lines;
  for (located_finding& each : all) at_lines[lines_of(each)].push_back(&each);
  for (located_finding& each : all) {
    const auto& here = at_lines[lines_of(each)];
    const auto real = std::ranges::find_if(here, [&](const located_finding* other) {
      return other->finding.count != 0 && is_by_chance(each.finding, other->finding);
    });
    if (real == here.end()) continue;
    (*real)->finding.count += std::exchange(each.finding.count, 0);
    (*real)->seeds.merge(each.seeds);
  }
  // That two threads open a lock by plain stores is no other mistake.
  for (located_finding& lock : all) {
    if (!lock.finding.lacks.has(diagnosis::lock_opened_by_plain_store)) continue;
    const bool atomic_first = is_atomic(lock.finding.first.what);
    const std::string opened = place_text(atomic_first ? lock.second : lock.first);
    for (located_finding& each : all) {
      if (is_atomic(each.finding.first.what) || is_atomic(each.finding.second.what) ||
          each.finding.object != lock.finding.object ||
          lines_of(each) != two_lines(opened, opened)) {
        continue;
      }
      lock.finding.count += std::exchange(each.finding.count, 0);
      lock.seeds.merge(each.seeds);
    }
  }
  std::erase_if(all, [](const located_finding& each) { return each.finding.count == 0; });
}

}  // namespace racecheck
