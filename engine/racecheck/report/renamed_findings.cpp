// SPDX-License-Identifier: MIT
#include "racecheck/report/renamed_findings.hpp"

#include <set>
#include <string>

#include "racecheck/report/access_text.hpp"

namespace racecheck {
namespace {

// Not every run shows that two lines are those of an update. Atomics that neither release nor
// acquire were not meant to order its accesses.
void name_all_updates(std::vector<located_finding>& all) {
  constexpr diagnosis_set update = {diagnosis::missing_atomic};
  constexpr diagnosis_set unordered = {diagnosis::missing_syncwarp, diagnosis::missing_syncthreads,
                                       diagnosis::not_diagnosed,
                                       diagnosis::volatile_is_no_synchronisation};
  constexpr diagnosis_set relaxed = {diagnosis::missing_release, diagnosis::missing_acquire};
  std::set<std::string> lines;
  for (const located_finding& each : all) {
    if (!each.finding.lacks.has(diagnosis::missing_atomic)) continue;
    lines.insert({place_text(each.first), place_text(each.second)});
  }
  for (located_finding& each : all) {
    finding& of = each.finding;
    const diagnosis_set rest = of.lacks.without(unordered).without(update);
    if (of.what == mistake::race && !is_atomic(of.first.what) && !is_atomic(of.second.what) &&
        (rest.empty() || rest.common_with(relaxed) == relaxed) &&
        lines.contains(place_text(each.first)) && lines.contains(place_text(each.second))) {
      of.lacks = of.lacks.common_with({diagnosis::volatile_is_no_synchronisation});
      of.lacks.add(update);
      for (drawn_chain::arrow& arrow : each.chain.arrows) {
        if (!arrow.lacks.empty()) arrow.lacks = of.lacks;
      }
    }
  }
}

// Where a line needs a barrier of the block, one of the warp would not do for its other accesses.
void widen_warp_barriers(std::vector<located_finding>& all) {
  std::set<std::string> lines;
  for (const located_finding& each : all) {
    if (!each.finding.lacks.has(diagnosis::missing_syncthreads)) continue;
    lines.insert({place_text(each.first), place_text(each.second)});
  }
  for (located_finding& each : all) {
    diagnosis_set& lacks = each.finding.lacks;
    if (!lacks.has(diagnosis::missing_syncwarp) ||
        (!lines.contains(place_text(each.first)) && !lines.contains(place_text(each.second)))) {
      continue;
    }
    lacks = lacks.without({diagnosis::missing_syncwarp});
    lacks.add(diagnosis::missing_syncthreads);
    for (drawn_chain::arrow& arrow : each.chain.arrows) {
      if (arrow.lacks.has(diagnosis::missing_syncwarp)) arrow.lacks = lacks;
    }
  }
}

// What a plain flag lets through without the lock under which the flag is set is read after the
// flag, and not meant to take the lock.
void name_what_flags_let_through(std::vector<located_finding>& all) {
  std::set<std::string> locks;
  for (const located_finding& each : all) {
    if (each.finding.lacks.has(diagnosis::plain_flag) && each.finding.cause)
      locks.insert(place_text(each.cause));
  }
  for (located_finding& each : all) {
    finding& of = each.finding;
    if (of.lacks != diagnosis_set{diagnosis::lock_on_one_side} || !of.cause ||
        (of.cause->in_observers_block ? of.first : of.second).what != operation::read ||
        !locks.contains(place_text(each.cause))) {
      continue;
    }
    of.lacks = {};
    of.cause.reset();
    for (drawn_chain::arrow& arrow : each.chain.arrows) {
      if (!arrow.lacks.empty()) arrow.lacks = of.codes_to_tell();
    }
  }
}

}  // namespace

void rename_findings(std::vector<located_finding>& all) {
  name_all_updates(all);
  name_what_flags_let_through(all);
  widen_warp_barriers(all);
}

}  // namespace racecheck
