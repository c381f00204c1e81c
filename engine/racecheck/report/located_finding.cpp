// SPDX-License-Identifier: MIT
#include "racecheck/report/located_finding.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "racecheck/report/changed_variables.hpp"

namespace racecheck {
namespace {

using two_lines = std::pair<std::string, std::string>;

two_lines lines_of(const located_finding& of) {
  two_lines lines{place_text(of.first), place_text(of.second)};
  if (lines.second < lines.first) std::swap(lines.first, lines.second);
  return lines;
}

// Whether both lines change one variable by `+=`, `++` and the like: the compiler may do the reads
// of two such lines at once.
bool update_the_same(const changed_variables& left, const changed_variables& right) {
  return std::ranges::any_of(left.updated,
                             [&](const std::string& name) { return right.updated.contains(name); });
}

// Where threads read an element and write it back: the instructions, and the lines of those that
// write. The compiler may have made several of one line.
struct updates {
  std::set<place_number> places;
  std::set<std::string> lines;

  bool contain(const party& of, const source_line& at) const {
    return places.contains(of.place) ||
           (of.what == operation::write && lines.contains(place_text(at)));
  }
};

// Of those that read and write it on one line, or on two that change it. A thread may also write
// what it has read at another line for another purpose: in a loop, for the next round.
updates find_updates(const std::set<plain_update>& all) {
  std::vector<place_number> places;
  for (const plain_update& each : all) places.insert(places.end(), {each.read, each.write});
  const std::vector<source_line> lines = source_lines(places);
  updates found;
  for (std::size_t read = 0; read < places.size(); read += 2) {
    const std::size_t write = read + 1;
    const bool is_one_line =
        !lines[read].file.empty() && place_text(lines[read]) == place_text(lines[write]);
    const changed_variables by_write = variables_changed_by(lines[write].text);
    const bool update_one = update_the_same(variables_changed_by(lines[read].text), by_write);
    const bool only_updates =
        !by_write.updated_elements.empty() && by_write.stored_elements.empty();
    if (is_one_line || update_one) found.places.insert(places[read]);
    if (is_one_line || update_one || only_updates) {
      found.places.insert(places[write]);
      found.lines.insert(place_text(lines[write]));
    }
  }
  return found;
}

// Two updates that nothing orders: a barrier, even of the grid, would not be what is missing.
void name_update(located_finding& at, const updates& known) {
  finding& of = at.found;
  missing rest = of.lacks;
  rest.syncwarp = rest.syncthreads = rest.volatile_is_no_atomic = rest.unknown = false;
  if (of.what != mistake::race || rest.anything() || is_atomic(of.first.what) ||
      !known.contain(of.first, at.first) || !known.contain(of.second, at.second)) {
    return;
  }
  of.lacks.update = true;
  of.lacks.syncwarp = of.lacks.syncthreads = of.lacks.unknown = false;
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
  const bool lacks_barrier = known.lacks.syncwarp || known.lacks.syncthreads;
  if (lacks_barrier) return !now.is_between_blocks() && now.lacks.release && now.lacks.acquire;
  // That another thread of the block has acquired meanwhile, too late for this one, is no reason to
  // rely on it.
  missing rest = now.lacks;
  rest.barrier_after = false;
  return now.lacks.barrier_after && !known.lacks.barrier_after && known.lacks.acquire &&
         !now.lacks.acquire && rest.is_part_of(known.lacks);
}

// Whether `now` tells more than `known`: of the same lines and of one diagnosis.
bool tells_more(const finding& now, const finding& known) {
  return (known.lacks.syncwarp && now.lacks.syncthreads) || (known.is_hasty && !now.is_hasty) ||
         (now.is_between_blocks() && !known.is_between_blocks());
}

// A barrier of the warp would not do where two threads of different warps race, too.
missing key_of(const finding& of) {
  missing lacks = of.lacks;
  lacks.syncthreads |= lacks.syncwarp;
  lacks.syncwarp = false;
  return lacks;
}

}  // namespace

std::string place_text(const source_line& at) {
  if (at.file.empty()) return "a place that the compiler does not name";
  return at.file + ':' + std::to_string(at.line);
}

std::vector<located_finding> locate(const std::vector<finding>& findings,
                                    const std::set<plain_update>& plain_updates) {
  std::vector<place_number> places;
  for (const finding& each : findings) {
    places.insert(places.end(),
                  {each.first.place, each.second.place, each.releaser.place, each.acquirer.place});
    for (const chain_step& step : each.between.steps) places.push_back(step.place);
  }
  const std::vector<source_line> lines = source_lines(places);
  const updates known_updates = find_updates(plain_updates);
  std::map<std::tuple<mistake, two_lines, missing>, std::size_t> known;
  std::set<two_lines> unordered_between_blocks;
  std::vector<located_finding> all;
  auto line = lines.begin();
  for (const finding& each : findings) {
    located_finding now{each, line[0], line[1], line[2], line[3], {}, false};
    line += 4;
    const auto end = line + static_cast<std::ptrdiff_t>(each.between.steps.size());
    now.steps.assign(line, end);
    line = end;
    name_update(now, known_updates);
    if (now.found.what == mistake::race && now.found.is_between_blocks() &&
        !now.found.lacks.anything()) {
      unordered_between_blocks.insert(lines_of(now));
    }
    const auto [entry, is_new] =
        known.try_emplace({now.found.what, lines_of(now), key_of(now.found)}, all.size());
    if (is_new) {
      all.push_back(std::move(now));
      continue;
    }
    located_finding& same = all[entry->second];
    now.found.count += same.found.count;
    if (tells_more(now.found, same.found)) same = now;
    same.found.count = now.found.count;
  }
  for (located_finding& each : all) {
    const auto real = std::find_if(all.begin(), all.end(), [&](const located_finding& other) {
      return other.found.count != 0 && is_by_chance(each.found, other.found) &&
             lines_of(each) == lines_of(other);
    });
    if (real != all.end()) real->found.count += std::exchange(each.found.count, 0);
  }
  std::erase_if(all, [](const located_finding& each) { return each.found.count == 0; });
  for (located_finding& each : all) {
    each.also_between_blocks =
        !each.found.is_between_blocks() && unordered_between_blocks.contains(lines_of(each));
  }
  std::stable_sort(
      all.begin(), all.end(), [](const located_finding& left, const located_finding& right) {
        const auto rank = [](const located_finding& of) {
          return std::tuple(of.found.is_strict(), of.also_between_blocks, -of.found.lacks.count());
        };
        return rank(left) < rank(right);
      });
  return all;
}

std::vector<element_findings> by_element(const std::vector<located_finding>& findings) {
  std::map<std::tuple<mistake, std::string, std::string, missing>, std::size_t> known;
  std::vector<element_findings> all;
  // What lacks more comes before what lacks less.
  const auto add_to_larger = [&](const located_finding& now) {
    const auto is_larger = [&](const element_findings& known) {
      const finding& larger = known.shown.found;
      return larger.what == now.found.what && lines_of(known.shown) == lines_of(now) &&
             larger.is_between_blocks() == now.found.is_between_blocks() &&
             larger.is_strict() <= now.found.is_strict() &&
             now.found.lacks.is_part_of(larger.lacks);
    };
    const auto larger = std::find_if(all.begin(), all.end(), is_larger);
    if (larger == all.end()) return false;
    larger->lesser.push_back(now);
    larger->count += now.found.count;
    return true;
  };
  for (const located_finding& each : findings) {
    if (add_to_larger(each)) continue;
    const auto [entry, is_new] = known.try_emplace(
        {each.found.what, each.found.memory, each.found.object, key_of(each.found)}, all.size());
    if (is_new) {
      all.push_back({each, {}, {}, each.found.count});
      continue;
    }
    all[entry->second].other_lines.emplace_back(each.first, each.second);
    all[entry->second].count += each.found.count;
  }
  return all;
}

}  // namespace racecheck
