// SPDX-License-Identifier: MIT
#include "racecheck/report/locating.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "racecheck/report/access_text.hpp"
#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/merging.hpp"

namespace racecheck {
namespace {

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
  constexpr diagnosis_set of_no_order = {diagnosis::missing_syncwarp,
                                         diagnosis::missing_syncthreads, diagnosis::not_diagnosed};
  constexpr diagnosis_set of_volatile = {diagnosis::volatile_is_no_synchronisation};
  finding& of = at.finding;
  const diagnosis_set rest = of.lacks.without(of_no_order).without(of_volatile);
  if (of.what != mistake::race || !rest.empty() || is_atomic(of.first.what) ||
      !known.contain(of.first, at.first) || !known.contain(of.second, at.second)) {
    return;
  }
  of.lacks = of.lacks.without(of_no_order);
  of.lacks.add(diagnosis::missing_atomic);
}

}  // namespace

std::vector<located_finding> locate(const std::vector<finding>& findings,
                                    const std::set<plain_update>& plain_updates,
                                    std::uint64_t seed) {
  std::vector<place_number> places;
  for (const finding& each : findings) {
    places.insert(places.end(),
                  {each.first.place, each.second.place, each.releaser.place, each.acquirer.place});
    for (const chain_step& step : each.between.steps) places.push_back(step.place);
  }
  const std::vector<source_line> lines = source_lines(places);
  const updates known_updates = find_updates(plain_updates);
  std::vector<located_finding> all;
  auto line = lines.begin();
  for (const finding& each : findings) {
    located_finding now;
    now.finding = each;
    now.first = *line++;
    now.second = *line++;
    now.releaser = *line++;
    now.acquirer = *line++;
    now.seed = seed;
    now.seeds = {seed};
    const auto end = line + static_cast<std::ptrdiff_t>(each.between.steps.size());
    const race_lines of_chain{now.first, now.second, {line, end}};
    line = end;
    name_update(now, known_updates);
    if (each.what == mistake::race) now.chain = chain_of(now.finding, of_chain);
    all.push_back(std::move(now));
  }
  return merge_by_lines(std::move(all));
}

}  // namespace racecheck
