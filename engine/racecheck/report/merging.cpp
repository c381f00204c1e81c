// SPDX-License-Identifier: MIT
#include "racecheck/report/merging.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>

#include "racecheck/report/chance_findings.hpp"
#include "racecheck/report/renamed_findings.hpp"

namespace racecheck {
namespace {

// Whether `now` tells more than `known`: of the same lines and of one diagnosis.
bool tells_more(const finding& now, const finding& known) {
  return (known.lacks.has(diagnosis::missing_syncwarp) &&
          now.lacks.has(diagnosis::missing_syncthreads)) ||
         (known.is_hasty && !now.is_hasty) || (is_plain_for_all(now) && !is_plain_for_all(known)) ||
         (now.is_between_blocks() && !known.is_between_blocks());
}

// A barrier of the warp would not do where two threads of different warps race, too. Of a race with
// an atomic not every run shows that it comes of a look.
diagnosis_set key_of(const finding& of) {
  constexpr diagnosis_set warp = {diagnosis::missing_syncwarp};
  constexpr diagnosis_set look = {diagnosis::plain_look_before_atomic,
                                  diagnosis::plain_store_beside_updates,
                                  diagnosis::lock_opened_by_plain_store};
  diagnosis_set lacks = of.lacks.without(warp);
  lacks.add(diagnosis::missing_syncthreads, lacks != of.lacks);
  lacks = lacks.without(look);
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

}  // namespace

std::vector<located_finding> merge_by_lines(std::vector<located_finding> findings) {
  rename_findings(findings);
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
  merge_chance_findings(all);
  for (located_finding& each : all) {
    each.also_between_blocks =
        !each.finding.is_between_blocks() && unordered_between_blocks.contains(lines_of(each));
  }
  std::ranges::stable_sort(all, {}, [](const located_finding& of) {
    return std::tuple(of.finding.is_strict(), !is_plain_alone(of.finding), of.also_between_blocks,
                      -of.finding.lacks.size());
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
  // A word that is not always used by atomics makes what it should order race as well. Of several
  // runs the one that shows a mistake first: a race that only some schedules have is more often the
  // consequence of another mistake than the mistake itself.
  std::ranges::stable_sort(all, {}, [](const element_findings& of) {
    return std::tuple(of.shown.finding.is_strict(), !is_plain_alone(of.shown.finding),
                      *of.shown.seeds.begin());
  });
  return all;
}

}  // namespace racecheck
