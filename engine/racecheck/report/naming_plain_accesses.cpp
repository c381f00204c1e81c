// SPDX-License-Identifier: MIT
// Plain accesses that share their bytes, that meet atomics, and that stand for a flag.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "racecheck/report/atomics_in_source.hpp"
#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/naming.hpp"
#include "racecheck/report/source_structure.hpp"

namespace racecheck {
namespace {

// "s->" of "s->count"; nothing if it is no member.
std::string_view holder_of(std::string_view member) {
  const std::size_t end = member.find_last_of(".>");
  return end == member.npos ? "" : member.substr(0, end + 1);
}

// The names of a source's `extern __shared__` arrays.
std::set<std::string> dynamic_arrays(const std::string& path) {
  std::set<std::string> names;
  std::ifstream source(path);
  for (std::string line; std::getline(source, line);) {
    const std::size_t declared = line.find("extern __shared__");
    const std::size_t end = line.find('[', declared);
    if (declared == line.npos || end == line.npos) continue;
    const std::size_t begin = line.find_last_of(" *&", end) + 1;
    names.insert(line.substr(begin, end - begin));
  }
  return names;
}

// The elements that the line stores to, or else the variables: one of them is what raced.
std::set<std::string> changed_by(std::string_view line) {
  const changed_variables by_line = variables_changed_by(line);
  return by_line.stored_places.empty() ? by_line.assigned : by_line.stored_places;
}

// Whether the one line's condition is about an element that the other line sets to a constant.
bool checks_a_flag(const source_line& read, const source_line& write) {
  const std::string_view condition = condition_after("if", read.text);
  return std::ranges::any_of(changed_by(write.text), [&](const std::string& place) {
    const std::size_t stored = write.text.find(place);
    const std::size_t equals = write.text.find('=', stored);
    const std::size_t end = write.text.find(';', stored);
    if (stored == std::string::npos || equals == std::string::npos || end < equals) return false;
    const std::string value = write.text.substr(equals + 1, end - equals - 1);
    const bool is_word = value == " true" || value == " false";
    return condition.find(place) != condition.npos && (is_word || !has_letter(value));
  });
}

std::string first_name_of(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_of_name);
  return std::string(text.begin(), end);
}

// What stands last, if it is a name.
std::string last_name(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  std::size_t begin = text.size();
  while (begin > 0 && is_of_name(text[begin - 1])) --begin;
  return text.substr(begin);
}

// Whether the line is in a loop without a barrier that follows what it reads: `at = parent[at]`.
// Each thread does as many rounds as the data says, so no barrier can stand in it.
bool follows_what_it_reads(const source_line& read) {
  if (source_structure::of(read.file).loop_has_barrier(read.line)) return false;
  const source_structure& source = source_structure::of(read.file);
  const std::string text =
      source.text_of(*source.around(read.line, source_structure::span::kind::loop));
  // From each name to those that are set by it; as an index if the second one is true.
  std::set<std::tuple<std::string, std::string, bool>> sets;
  for (std::size_t at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    const std::string name = last_name(text.substr(0, at));
    const std::size_t end = std::min(text.find(';', at), text.size());
    for (std::size_t begin = at + 1; begin < end; ++begin) {
      if (!is_of_name(text[begin]) || is_of_name(text[begin - 1])) continue;
      const std::string used = first_name_of(text.substr(begin));
      if (!name.empty()) sets.insert({used, name, text[begin - 1] == '['});
    }
  }
  for (std::size_t known = 0; known != sets.size();) {
    known = sets.size();
    const auto now = sets;
    for (const auto& [from, to, by_index] : now) {
      for (const auto& [again, next, also] : now) {
        if (to == again) sets.insert({from, next, by_index || also});
      }
    }
  }
  return std::ranges::any_of(sets, [](const auto& each) {
    return std::get<0>(each) == std::get<1>(each) && std::get<2>(each);
  });
}

}  // namespace

void name_shared_bytes(finding& of) {
  const changed_variables first = variables_changed_by(of.first.at.text);
  const changed_variables second = variables_changed_by(of.second.at.text);
  if (of.what != mistake::race || is_atomic(of.first.what) || is_atomic(of.second.what) ||
      !of.lacks.without(missing_barriers).empty() || first.stored_places.size() != 1 ||
      second.stored_places.size() != 1 || first.stored_places == second.stored_places) {
    return;
  }
  const std::string_view holder = holder_of(*first.stored_places.begin());
  const bool both_write = writes(of.first.what) && writes(of.second.what);
  if (!holder.empty() && holder == holder_of(*second.stored_places.begin())) {
    // To write a bit-field is to read its neighbours, too.
    of.lacks = {diagnosis::members_of_one_word};
  } else if (both_write && of.element.in_dynamic_memory &&
             first.stored_elements != second.stored_elements) {
    const std::set<std::string> arrays = dynamic_arrays(of.first.at.file);
    if (arrays.contains(*first.stored_elements.begin()) &&
        arrays.contains(*second.stored_elements.begin())) {
      of.lacks = {diagnosis::arrays_at_one_address};
    }
  }
}

void name_plain_access(finding& of, const checks& known) {
  if (!of.lacks.has(diagnosis::plain_mixed_with_atomic)) return;
  const racing_access &plain = of.plain_one(), &atomic = of.atomic_one();
  of.lacks.add(diagnosis::plain_look_before_atomic,
               known.contains({place_text(plain.at), place_text(atomic.at)}));
  if (plain.what != operation::write) return;
  const changed_variables by_plain = variables_changed_by(plain.at.text);
  const bool opens_a_lock = takes_a_lock(atomic.at.text);
  of.lacks.add(diagnosis::lock_opened_by_plain_store, opens_a_lock);
  of.lacks.add(diagnosis::plain_store_beside_updates,
               !opens_a_lock && !of.in_two_branches && !changes_nothing(atomic.at.text) &&
                   atomic.what == operation::atomic_update && !changed_by(plain.at.text).empty() &&
                   by_plain.updated_elements.empty());
}

void name_unordered(std::vector<finding>& all) {
  constexpr diagnosis_set mixed = {diagnosis::plain_mixed_with_atomic};
  const auto lines_of = [](const finding& of) {
    std::pair lines{place_text(of.first.at), place_text(of.second.at)};
    if (lines.second < lines.first) std::swap(lines.first, lines.second);
    return lines;
  };
  std::set<std::pair<std::string, std::string>> unordered;
  for (const finding& each : all) {
    if (each.what == mistake::race && each.is_between_blocks() && each.lacks.empty() &&
        each.first.what == operation::write && each.second.what == operation::read) {
      unordered.insert(lines_of(each));
    }
  }
  for (finding& each : all) {
    if (each.lacks == mixed && each.is_between_blocks() && unordered.contains(lines_of(each))) {
      each.lacks = {};
    }
  }
}

void name_plain_flag(finding& of) {
  const bool reads_first = of.first.what == operation::read;
  const bool is_set_under_lock =
      of.cause && of.cause->in_observers_block == reads_first && takes_a_lock(of.cause->at.text);
  if (of.what != mistake::race || reads_first == (of.second.what == operation::read)) return;
  const bool is_flag =
      of.is_between_blocks()
          ? of.lacks.without(is_set_under_lock ? lost_update : diagnosis_set()).empty() &&
                (waits_plainly(of.reader().at.text) ||
                 checks_a_flag(of.reader().at, of.writer().at))
          : of.lacks.without(missing_barriers).empty() && follows_what_it_reads(of.reader().at);
  if (is_flag) {
    of.lacks = {diagnosis::plain_flag};
  }
}

}  // namespace racecheck
