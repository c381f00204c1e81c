// SPDX-License-Identifier: MIT
#include "racecheck/report/merging.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>

#include "racecheck/report/access_text.hpp"

namespace racecheck {
namespace {

using two_lines = std::pair<std::string, std::string>;

two_lines lines_of(const located_finding& of) {
  two_lines lines{place_text(of.first), place_text(of.second)};
  if (lines.second < lines.first) std::swap(lines.first, lines.second);
  return lines;
}

// Whether `now` has another diagnosis than `known`, at the same lines, only because of what
// happened to lie between the two threads.
bool is_by_chance(const finding& now, const finding& known) {
  if (now.what != mistake::race || known.what != mistake::race ||
      now.is_between_blocks() != known.is_between_blocks()) {
    return false;
  }
  // In a block where a barrier is missing, atomics that neither release nor acquire were not meant
  // to stand in for it.
  constexpr diagnosis_set barrier = {diagnosis::missing_syncwarp, diagnosis::missing_syncthreads};
  constexpr diagnosis_set signal = {diagnosis::missing_release, diagnosis::missing_acquire};
  if (!known.lacks.common_with(barrier).empty()) {
    return !now.is_between_blocks() && now.lacks.common_with(signal) == signal;
  }
  // That another thread of the block has acquired meanwhile, too late for this one, is no reason to
  // rely on it.
  constexpr diagnosis_set after = {diagnosis::missing_barrier_after};
  return now.lacks.common_with(after) == after && known.lacks.common_with(after).empty() &&
         known.lacks.has(diagnosis::missing_acquire) &&
         !now.lacks.has(diagnosis::missing_acquire) &&
         now.lacks.without(after).is_part_of(known.lacks);
}

// Whether `now` tells more than `known`: of the same lines and of one diagnosis.
bool tells_more(const finding& now, const finding& known) {
  return (known.lacks.has(diagnosis::missing_syncwarp) &&
          now.lacks.has(diagnosis::missing_syncthreads)) ||
         (known.is_hasty && !now.is_hasty) ||
         (now.is_between_blocks() && !known.is_between_blocks());
}

// A barrier of the warp would not do where two threads of different warps race, too.
diagnosis_set key_of(const finding& of) {
  constexpr diagnosis_set warp = {diagnosis::missing_syncwarp};
  diagnosis_set lacks = of.lacks.without(warp);
  lacks.add(diagnosis::missing_syncthreads, lacks != of.lacks);
  return lacks;
}

// Adds what `more` has been counted for; where it tells more, it is what is shown.
void add_same(located_finding& to, const located_finding& more) {
  const std::uint64_t count = to.finding.count + more.finding.count;
  std::set<std::uint64_t> seeds = more.seeds;
  seeds.merge(to.seeds);
  if (tells_more(more.finding, to.finding)) to = more;
  to.finding.count = count;
  to.seeds = std::move(seeds);
}

// Those that are there by chance are counted for what is really missing at their lines.
void merge_chances(std::vector<located_finding>& all) {
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
  std::erase_if(all, [](const located_finding& each) { return each.finding.count == 0; });
}

}  // namespace

std::vector<located_finding> merge_by_lines(std::vector<located_finding> findings) {
  std::map<std::tuple<mistake, two_lines, diagnosis_set>, std::size_t> known;
  std::set<two_lines> unordered_between_blocks;
  std::vector<located_finding> all;
  for (located_finding& each : findings) {
    const two_lines lines = lines_of(each);
    if (each.finding.what == mistake::race && each.finding.is_between_blocks() &&
        each.finding.lacks.empty()) {
      unordered_between_blocks.insert(lines);
    }
    const auto [entry, is_new] =
        known.try_emplace({each.finding.what, lines, key_of(each.finding)}, all.size());
    if (is_new) {
      all.push_back(std::move(each));
    } else {
      add_same(all[entry->second], each);
    }
  }
  merge_chances(all);
  for (located_finding& each : all) {
    each.also_between_blocks =
        !each.finding.is_between_blocks() && unordered_between_blocks.contains(lines_of(each));
  }
  std::ranges::stable_sort(all, {}, [](const located_finding& of) {
    return std::tuple(of.finding.is_strict(), of.also_between_blocks, -of.finding.lacks.size());
  });
  return all;
}

std::vector<element_findings> merge_by_element(const std::vector<located_finding>& findings) {
  std::map<std::tuple<mistake, std::string, std::string, diagnosis_set>, std::size_t> known;
  std::map<two_lines, std::vector<std::size_t>> at_lines;  // that are shown
  std::vector<element_findings> all;
  // What lacks more comes before what lacks less.
  const auto find_larger = [&](const located_finding& now) {
    const auto is_larger = [&](std::size_t number) {
      const finding& larger = all[number].shown.finding;
      return larger.what == now.finding.what &&
             larger.is_between_blocks() == now.finding.is_between_blocks() &&
             larger.is_strict() <= now.finding.is_strict() &&
             now.finding.lacks.is_part_of(larger.lacks);
    };
    const auto& here = at_lines[lines_of(now)];
    const auto larger = std::ranges::find_if(here, is_larger);
    return larger == here.end() ? nullptr : &all[*larger];
  };
  for (const located_finding& each : findings) {
    element_findings* with = find_larger(each);
    if (with) {
      with->lesser.push_back(each);
    } else {
      const auto [entry, is_new] = known.try_emplace(
          {each.finding.what, each.finding.memory, each.finding.object, key_of(each.finding)},
          all.size());
      if (is_new) {
        at_lines[lines_of(each)].push_back(all.size());
        all.push_back({each, {}, {}, 0, {}});
      } else {
        all[entry->second].other_lines.emplace_back(each.first, each.second);
      }
      with = &all[entry->second];
    }
    with->count += each.finding.count;
    with->seeds.insert(each.seeds.begin(), each.seeds.end());
  }
  // Of several runs the one that shows a mistake first: a race that only some schedules have is
  // more often the consequence of another mistake than the mistake itself.
  std::ranges::stable_sort(all, {}, [](const element_findings& of) {
    return std::tuple(of.shown.finding.is_strict(), *of.shown.seeds.begin());
  });
  return all;
}

}  // namespace racecheck
