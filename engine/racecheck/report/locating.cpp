// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu_backend/execution/source_line.hpp"
#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/merging.hpp"
#include "racecheck/report/naming.hpp"
#include "racecheck/report/source_structure.hpp"

namespace racecheck {
namespace {

// Calls what(place_number, source_line&) for each of the finding's places.
template <class What>
void each_place(finding& of, What what) {
  for (racing_access* each : {&of.first, &of.second}) what(each->place, each->at);
  for (synchronizing_operation* each : {&of.releaser, &of.acquirer}) what(each->place, each->at);
  for (std::optional<chain_step>* each : {&of.older_load, &of.cause, &of.cause_of_second}) {
    if (*each) what((*each)->place, (*each)->at);
  }
  for (chain_step& each : of.between.steps) what(each.place, each.at);
}

// Whether the line reads elements of this array, and of no other one.
bool reads_only(std::string_view line, std::string_view array) {
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    if (line[i] != '=' || line[i + 1] == '=') continue;
    constexpr std::string_view before = "-+*/%&|^<>=!";
    if (before.find(line[i - 1]) == before.npos) line = line.substr(i + 1);
    break;
  }
  for (std::size_t at = line.find('['); at != line.npos; at = line.find('[', at + 1)) {
    const auto is_of_name = [](char each) { return std::isalnum(each) || each == '_'; };
    std::size_t begin = at;
    while (begin > 0 && is_of_name(line[begin - 1])) --begin;
    if (begin != at && line.substr(begin, at - begin) != array) return false;
  }
  return has_name(line, array);
}

// Two barriers of one line are those of two calls that are inlined: these are told instead. If
// there are none, the compiler has made two barriers of one.
void locate_calls(std::vector<finding>& all) {
  std::vector<std::uint64_t> offsets;
  for (const finding& each : all) {
    if (each.what != mistake::two_barriers) continue;
    offsets.insert(offsets.end(), {each.first.place, each.second.place});
  }
  if (offsets.empty()) return;
  const auto found = cpu_backend::ask_compiler(offsets);
  for (finding& each : all) {
    if (each.what != mistake::two_barriers) continue;
    const auto of_first = found.find(each.first.place);
    const auto of_second = found.find(each.second.place);
    if (of_first == found.end() || of_second == found.end()) continue;
    const auto &first = of_first->second, &second = of_second->second;
    const auto differ = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
    if (differ.first == first.end() || differ.second == second.end()) continue;
    each.first.at = cpu_backend::make_source_line(differ.first->first, differ.first->second);
    each.second.at = cpu_backend::make_source_line(differ.second->first, differ.second->second);
  }
}

}  // namespace

std::vector<finding> locate(std::vector<finding> all, const std::set<plain_update>& plain_updates,
                            std::uint64_t seed) {
  std::vector<place_number> places;
  for (finding& each : all) {
    each_place(each, [&](place_number place, source_line&) { places.push_back(place); });
  }
  const std::vector<source_line> lines = source_lines(places);
  auto line = lines.begin();
  for (finding& each : all) {
    each_place(each, [&](place_number, source_line& at) { at = *line++; });
    each.seed = seed;
    each.seeds = {seed};
    each.in_two_branches = each.what == mistake::race &&
                           each.first.at.file == each.second.at.file &&
                           source_structure::of(each.first.at.file)
                               .exclude_each_other(each.first.at.line, each.second.at.line);
  }
  locate_calls(all);
  std::erase_if(all, [](const finding& each) {
    if (each.what == mistake::two_barriers) return each.first.at.line == each.second.at.line;
    return !each.parameter.empty() && !reads_only(each.second.at.text, each.parameter);
  });
  const updates known_updates = find_updates(plain_updates, all);
  const checks known_checks = find_checks(plain_updates);
  for (finding& each : all) {
    forget_idle_way(each);
    name_race_in_block(each);
    name_update(each, known_updates);
    name_stride(each);
    name_shared_bytes(each);
    name_late_access(each);
    name_plain_access(each, known_checks);
    name_plain_flag(each);
    name_cause(each);
    name_overtaking(each);
    name_lock_free(each);
  }
  name_stores(all);
  name_unordered(all);
  widen_barriers(all);
  for (finding& each : all) {
    if (each.what == mistake::race) each.drawn = chain_of(each);
  }
  return merge_by_lines(std::move(all));
}

}  // namespace racecheck
