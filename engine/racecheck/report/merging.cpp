// SPDX-License-Identifier: MIT
#include "racecheck/report/merging.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "racecheck/report/finding_text.hpp"

namespace racecheck {

namespace {

using two_lines = std::pair<std::string, std::string>;

// The places of both accesses, the smaller text first.
two_lines lines_of(const finding& of) {
  two_lines lines{place_text(of.first.at), place_text(of.second.at)};
  if (lines.second < lines.first) std::swap(lines.first, lines.second);
  return lines;
}

// That a plain access meets atomics, and nothing else; of one block a barrier may be what is
// missing.
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

// Then what else a race at its lines lacks came of other atomics that lay between. (A
// thread that reads before another one's atomic was not meant to have seen it, while one that reads
// after it may be.)
bool is_plain_for_all(const finding& of) {
  return is_plain_alone(of) &&
         (of.first.what == operation::read || of.lacks.has(diagnosis::plain_look_before_atomic) ||
          of.lacks.has(diagnosis::lock_opened_by_plain_store));
}

// ---- Findings whose diagnosis is another one only because of what happened to lie between the two
// threads in that schedule

// Whether `now` has another diagnosis than `known`, at the same lines, only because of what
// happened to lie between the two threads.
bool is_by_chance(const finding& now, const finding& known) {
  if (is_plain_for_all(known) && now.lacks.has(diagnosis::plain_mixed_with_atomic) &&
      (known.is_between_blocks() || !now.is_between_blocks())) {
    return &now != &known;
  }
  // A thread that writes after its signal does so for its own block's threads as well, and so far
  // nothing else has signalled that it has written.
  constexpr diagnosis_set late_signal = {diagnosis::write_after_signal};
  constexpr diagnosis_set barrier = missing_barriers;
  // A thread that signals for others too early lets its observer come before them.
  constexpr diagnosis_set of_others[] = {{diagnosis::missing_barrier_before},
                                         {diagnosis::missing_arrival}};
  if (!now.is_between_blocks() && !known.is_between_blocks() && !now.lacks.empty() &&
      now.lacks.without(barrier).empty() &&
      std::ranges::find(of_others, known.lacks) != std::end(of_others)) {
    return true;
  }
  constexpr diagnosis_set late_access = {diagnosis::access_after_release};
  if (known.lacks == late_access && known.is_between_blocks() && now.what == mistake::race &&
      !now.is_between_blocks() &&
      now.lacks.without(barrier).without({diagnosis::plain_flag}).empty()) {
    return true;
  }
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
  // What a thread does in its next round may follow any atomic of the round before.
  // The same of what is stored by one statement, which no signal would order.
  constexpr diagnosis_set of_no_way[] = {{diagnosis::missing_meeting},
                                         {diagnosis::store_after_decision},
                                         {diagnosis::stored_by_several}};
  if (std::ranges::find(of_no_way, known.lacks) != std::end(of_no_way))
    return now.lacks.without(lacks_of_ways).empty();
  if (known.lacks == late_access && now.lacks.has(diagnosis::plain_mixed_with_atomic)) return true;
  constexpr diagnosis_set for_block = {diagnosis::missing_barrier_before,
                                       diagnosis::missing_barrier_after};
  if (known.lacks == late_access && known.is_between_blocks()) {
    if (now.lacks.without(for_block).empty() && !now.lacks.empty() &&
        place_text(now.releaser.at) == place_text(known.releaser.at)) {
      return true;
    }
  }
  constexpr diagnosis_set shared_states = {diagnosis::index_without_block};
  constexpr diagnosis_set update = {diagnosis::missing_atomic};
  constexpr diagnosis_set given_back = {diagnosis::lock_given_back};
  if ((known.lacks == shared_states || known.lacks == given_back) && now.lacks == update)
    return true;
  // A thread that does not wait for the barrier may come before all that it should wait for, and
  // one that accesses after its release, after all that the other one does.
  constexpr diagnosis_set late[] = {
      {diagnosis::missing_barrier_after},    {diagnosis::access_after_release},
      {diagnosis::read_between_two_signals}, {diagnosis::signal_not_awaited},
      {diagnosis::missing_barrier_before},   {diagnosis::plain_flag}};
  constexpr diagnosis_set both_in = {diagnosis::lock_lets_both_in};  // ... of a lock that is right
  if ((now.lacks.empty() || now.lacks == both_in) &&
      std::ranges::find(late, known.lacks) != std::end(late)) {
    return true;
  }
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

// Those that are there by chance are counted for what is really missing at their lines, and are
// gone. Each diagnosis stands at most once for two lines.
void merge_chance_findings(std::vector<finding>& all) {
  std::map<two_lines, std::vector<finding*>> at_lines;
  for (finding& each : all) at_lines[lines_of(each)].push_back(&each);
  for (finding& each : all) {
    const auto& here = at_lines[lines_of(each)];
    const auto real = std::ranges::find_if(here, [&](const finding* other) {
      return other->count != 0 && is_by_chance(each, *other);
    });
    if (real == here.end()) continue;
    (*real)->count += std::exchange(each.count, 0);
    (*real)->seeds.merge(each.seeds);
  }
  // That two threads open a lock by plain stores is no other mistake.
  for (finding& lock : all) {
    if (!lock.lacks.has(diagnosis::lock_opened_by_plain_store)) continue;
    const std::string opened = place_text(lock.plain_one().at);
    for (finding& each : all) {
      if (is_atomic(each.first.what) || is_atomic(each.second.what) || each.object != lock.object ||
          lines_of(each) != two_lines(opened, opened)) {
        continue;
      }
      lock.count += std::exchange(each.count, 0);
      lock.seeds.merge(each.seeds);
    }
  }
  std::erase_if(all, [](const finding& each) { return each.count == 0; });
}

// ---- Diagnoses that only the findings of all runs together tell

// The lines of all accesses whose findings have this diagnosis.
std::set<std::string> lines_with(diagnosis code, const std::vector<finding>& all) {
  std::set<std::string> lines;
  for (const finding& each : all) {
    if (each.lacks.has(code)) lines.insert({place_text(each.first.at), place_text(each.second.at)});
  }
  return lines;
}

// Gives it that diagnosis, and so what its chain lacks.
void set_diagnosis(finding& of, const diagnosis_set& lacks) {
  of.lacks = lacks;
  for (drawn_chain::arrow& arrow : of.drawn.arrows) {
    if (!arrow.lacks.empty()) arrow.lacks = of.codes_to_tell();
  }
}

// Not every run shows that two lines are those of an update. Atomics that neither release nor
// acquire were not meant to order its accesses.
void name_all_updates(std::vector<finding>& all) {
  constexpr diagnosis_set update = {diagnosis::missing_atomic};
  constexpr diagnosis_set unordered = {diagnosis::missing_syncwarp, diagnosis::missing_syncthreads,
                                       diagnosis::not_diagnosed,
                                       diagnosis::volatile_is_no_synchronisation};
  constexpr diagnosis_set relaxed = {diagnosis::missing_release, diagnosis::missing_acquire};
  const std::set<std::string> lines = lines_with(diagnosis::missing_atomic, all);
  for (finding& each : all) {
    const diagnosis_set of_block =
        each.is_between_blocks() ? diagnosis_set{} : diagnosis_set{diagnosis::plain_flag};
    const diagnosis_set rest = each.lacks.without(unordered).without(update).without(of_block);
    if (each.what == mistake::race && !is_atomic(each.first.what) && !is_atomic(each.second.what) &&
        (rest.empty() || rest.common_with(relaxed) == relaxed) &&
        lines.contains(place_text(each.first.at)) && lines.contains(place_text(each.second.at))) {
      diagnosis_set lacks = each.lacks.common_with({diagnosis::volatile_is_no_synchronisation});
      lacks.add(update);
      set_diagnosis(each, lacks);
    }
  }
}

// Threads that write one element by one statement lack no barrier, unless what is written has to be
// read before.
void name_common_stores(std::vector<finding>& all) {
  std::set<std::string> read_before;
  for (const finding& each : all) {
    if (each.lacks.common_with(missing_barriers).empty()) continue;
    if (each.first.what == operation::read || each.second.what == operation::read)
      read_before.insert(place_text(each.writer().at));
  }
  for (finding& each : all) {
    const std::string line = place_text(each.first.at);
    if (each.what == mistake::race && each.first.what == operation::write &&
        each.second.what == operation::write && line == place_text(each.second.at) &&
        !each.lacks.empty() && each.lacks.without(missing_barriers).empty() &&
        !read_before.contains(line)) {
      set_diagnosis(each, {});
    }
  }
}

// Where a line needs a barrier of the block, one of the warp would not do for its other accesses.
void widen_warp_barriers(std::vector<finding>& all) {
  constexpr diagnosis_set of_warp = {diagnosis::missing_syncwarp};
  const std::set<std::string> lines = lines_with(diagnosis::missing_syncthreads, all);
  for (finding& each : all) {
    const bool is_there =
        lines.contains(place_text(each.first.at)) || lines.contains(place_text(each.second.at));
    if (!is_there || each.lacks.common_with(of_warp).empty()) continue;
    diagnosis_set lacks = each.lacks.without(of_warp);
    lacks.add(diagnosis::missing_syncthreads);
    set_diagnosis(each, lacks);
  }
}

// What a plain flag lets through without the lock under which the flag is set is read after the
// flag, and not meant to take the lock.
void name_what_flags_let_through(std::vector<finding>& all) {
  std::set<std::string> locks;
  for (const finding& each : all) {
    if (each.lacks.has(diagnosis::plain_flag) && each.cause)
      locks.insert(place_text(each.cause->at));
  }
  for (finding& each : all) {
    if (each.lacks != diagnosis_set{diagnosis::lock_on_one_side} || !each.cause ||
        (each.cause->in_observers_block ? each.first : each.second).what != operation::read ||
        !locks.contains(place_text(each.cause->at))) {
      continue;
    }
    each.cause.reset();
    set_diagnosis(each, {});
  }
}

// ---- Merging

// Whether `now` tells more than `known`: of the same lines and of one diagnosis.
bool tells_more(const finding& now, const finding& known) {
  return (known.lacks.has(diagnosis::missing_syncwarp) &&
          now.lacks.has(diagnosis::missing_syncthreads)) ||
         (known.signals_early && !now.signals_early) ||
         (is_plain_for_all(now) && !is_plain_for_all(known)) ||
         (now.is_between_blocks() && !known.is_between_blocks());
}

// A barrier of the warp would not do where two threads of different warps race, too. Not
// every run shows that a race with an atomic comes of a check before it.
diagnosis_set key_of(const finding& of) {
  constexpr diagnosis_set warp = {diagnosis::missing_syncwarp};
  constexpr diagnosis_set not_always_shown = {diagnosis::plain_look_before_atomic,
                                              diagnosis::plain_store_beside_updates,
                                              diagnosis::lock_opened_by_plain_store};
  diagnosis_set lacks = of.lacks.without(warp);
  lacks.add(diagnosis::missing_syncthreads, lacks != of.lacks);
  return lacks.without(not_always_shown);
}

// Adds what `more` has been counted for; where it tells more, it is what is shown.
void add_same(finding& to, const finding& more) {
  const std::uint64_t count = to.count + more.count;
  std::set<std::uint64_t> seeds = more.seeds;
  seeds.merge(to.seeds);
  if (tells_more(more, to)) to = more;
  to.count = count;
  to.seeds = std::move(seeds);
}

}  // namespace

std::vector<finding> merge_by_lines(std::vector<finding> findings) {
  name_all_updates(findings);
  name_common_stores(findings);
  name_what_flags_let_through(findings);
  widen_warp_barriers(findings);
  std::map<std::tuple<mistake, two_lines, diagnosis_set>, std::size_t> known;
  std::set<two_lines> unordered_between_blocks;
  std::vector<finding> all;
  for (finding& each : findings) {
    const two_lines lines = lines_of(each);
    if (each.what == mistake::race && each.is_between_blocks() && each.lacks.empty()) {
      unordered_between_blocks.insert(lines);
    }
    const auto [entry, is_new] = known.try_emplace({each.what, lines, key_of(each)}, all.size());
    if (is_new) {
      all.push_back(std::move(each));
    } else {
      add_same(all[entry->second], each);
    }
  }
  merge_chance_findings(all);
  for (finding& each : all) {
    each.also_between_blocks =
        !each.is_between_blocks() && unordered_between_blocks.contains(lines_of(each));
  }
  std::ranges::stable_sort(all, {}, [](const finding& of) {
    return std::tuple(of.is_strict(), !is_plain_alone(of), of.also_between_blocks,
                      -of.lacks.size());
  });
  return all;
}

std::vector<element_findings> merge_by_element(const std::vector<finding>& findings) {
  std::map<std::tuple<mistake, std::string, std::string, diagnosis_set>, std::size_t> known;
  std::map<two_lines, std::vector<std::size_t>> at_lines;  // that are shown
  std::vector<element_findings> all;
  // What lacks more comes before what lacks less.
  const auto find_larger = [&](const finding& now) {
    const auto is_larger = [&](std::size_t number) {
      const finding& larger = all[number].shown;
      return larger.what == now.what && larger.is_between_blocks() == now.is_between_blocks() &&
             larger.is_strict() <= now.is_strict() && now.lacks.is_part_of(larger.lacks);
    };
    const auto& here = at_lines[lines_of(now)];
    const auto larger = std::ranges::find_if(here, is_larger);
    return larger == here.end() ? nullptr : &all[*larger];
  };
  for (const finding& each : findings) {
    element_findings* with = find_larger(each);
    if (with) {
      with->lesser.push_back(each);
    } else {
      const auto [entry, is_new] =
          known.try_emplace({each.what, each.memory, each.object, key_of(each)}, all.size());
      if (is_new) {
        at_lines[lines_of(each)].push_back(all.size());
        all.push_back({each, {}, {}, 0, {}});
      } else {
        all[entry->second].other_lines.emplace_back(each.first.at, each.second.at);
      }
      with = &all[entry->second];
    }
    with->count += each.count;
    with->seeds.insert(each.seeds.begin(), each.seeds.end());
  }
  // A word that is not always used by atomics makes what it should order race as well. Of several
  // runs the one that shows a mistake first: a race that only some schedules have is more often the
  // consequence of another mistake than the mistake itself.
  std::ranges::stable_sort(all, {}, [](const element_findings& of) {
    return std::tuple(of.shown.is_strict(), !is_plain_alone(of.shown), *of.shown.seeds.begin());
  });
  return all;
}

}  // namespace racecheck
