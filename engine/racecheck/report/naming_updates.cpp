// SPDX-License-Identifier: MIT
// Updates of an element by a read and a write.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "racecheck/report/atomics_in_source.hpp"
#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/finding_text.hpp"
#include "racecheck/report/naming.hpp"
#include "racecheck/report/source_structure.hpp"

namespace racecheck {
namespace {

// Whether both lines change one variable by `+=`, `++` and the like: the compiler may do the reads
// of two such lines at once.
bool update_the_same(const changed_variables& left, const changed_variables& right) {
  return std::ranges::any_of(left.updated,
                             [&](const std::string& name) { return right.updated.contains(name); });
}

// Lines at which two threads write one element, and whether they are of two blocks.
using two_writers = std::map<std::string, bool>;

two_writers find_two_writers(const std::vector<finding>& all) {
  two_writers found;
  for (const finding& each : all) {
    const std::string line = place_text(each.first.at);
    if (each.what == mistake::race && each.first.what == operation::write &&
        each.second.what == operation::write && line == place_text(each.second.at)) {
      found[line] |= each.is_between_blocks();
    }
  }
  return found;
}

constexpr unsigned most_lines_of_a_condition = 2;

// As in `if (!visited[v])`, and on the next line `visited[v] = 1`.
bool is_checked_and_set(const source_line& read, const source_line& write) {
  const std::set<std::string> places = variables_changed_by(write.text).stored_places;
  const std::string_view condition = condition_after("if", read.text);
  return read.file == write.file && read.line <= write.line &&
         write.line - read.line <= most_lines_of_a_condition &&
         std::ranges::any_of(places, [&](const std::string& each) {
           return condition.find(each) != std::string_view::npos;
         });
}

// Whether what the one line reads decides what the other one, which comes after it, writes.
bool decides(const source_line& read, const source_line& write) {
  const changed_variables by_read = variables_changed_by(read.text);
  return std::ranges::any_of(by_read.assigned,
                             [&](const std::string& name) { return has_name(write.text, name); }) ||
         (has_name(read.text, "if") && write.line - read.line <= most_lines_of_a_condition);
}

struct store {
  std::string place, value;
};

// The stores to elements on the line and the two lines around it; of each value's names it has what
// they are made of as well.
std::vector<store> stores_around(const source_line& at) {
  const source_structure& source = source_structure::of(at.file);
  std::vector<store> found;
  for (unsigned line = at.line - std::min(at.line - 1, 2U); line <= at.line + 2; ++line) {
    const std::string_view text = source.line_text(line);
    for (const std::string& place : variables_changed_by(text).stored_places) {
      const std::size_t begin = text.find('=', text.find(place) + place.size());
      if (begin == text.npos || place.find('[') == place.npos) continue;
      const std::string_view value = text.substr(begin, text.find(';', begin) - begin);
      found.push_back({place, source.with_values(value, line)});
    }
  }
  return found;
}

// Whether the line is one of two stores by which two elements of an array are exchanged: each takes
// what the other one had, which is no update.
bool exchanges(const source_line& write) {
  if (write.text.find('[') == write.text.npos) return false;
  const std::set<std::string> places = variables_changed_by(write.text).stored_places;
  const std::vector<store> stores = stores_around(write);
  return std::ranges::any_of(stores, [&](const store& one) {
    return places.contains(one.place) && std::ranges::any_of(stores, [&](const store& other) {
             return one.place != other.place &&
                    one.place.substr(0, one.place.find('[')) ==
                        other.place.substr(0, other.place.find('[')) &&
                    one.value.find(other.place) != one.value.npos &&
                    other.value.find(one.place) != other.value.npos;
           });
  });
}

// Whether the thread goes on with what it has stored, and not with what others have made of the
// element: a state of its own, as that of random numbers. What it stores is a variable.
bool stores_a_state(const source_line& write) {
  const std::size_t end = write.text.find(';');
  const std::size_t sign = write.text.rfind('=', end);
  if (end == write.text.npos || sign == write.text.npos || sign == 0) return false;
  std::string_view value = std::string_view(write.text).substr(sign + 1, end - sign - 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return !value.empty() && has_letter(value) && std::ranges::all_of(value, is_of_name) &&
         std::string_view(" ]abcdefghijklmnopqrstuvwxyz").find(write.text[sign - 1]) !=
             std::string_view::npos;
}

}  // namespace

bool only_updates(std::string_view line) {
  const changed_variables by_line = variables_changed_by(line);
  // What is no element is a variable of all threads, if nothing else is changed.
  const bool updates =
      !by_line.updated_elements.empty() || (!by_line.updated.empty() && by_line.assigned.empty());
  return updates && by_line.stored_elements.empty();
}

bool updates::contain(const racing_access& of) const {
  return places.contains(of.place) ||
         (of.what == operation::write && lines.contains(place_text(of.at)));
}

checks find_checks(const std::set<plain_update>& all) {
  std::vector<place_number> places;
  for (const plain_update& each : all) {
    if (each.is_atomic) places.insert(places.end(), {each.read, each.write});
  }
  const std::vector<source_line> lines = source_lines(places);
  checks found;
  for (std::size_t read = 0; read < lines.size(); read += 2) {
    const source_line &check = lines[read], &change = lines[read + 1];
    if (!check.file.empty() && check.file == change.file && check.line <= change.line) {
      found.insert({place_text(check), place_text(change)});
    }
  }
  return found;
}

// The updates on one line, or on two that change the element. A thread may also write what it has
// read at another line for another purpose: in a loop, for the next round.
updates find_updates(const std::set<plain_update>& all, const std::vector<finding>& races) {
  const two_writers writers = find_two_writers(races);
  std::vector<place_number> places;
  for (const plain_update& each : all) {
    if (!each.is_atomic) places.insert(places.end(), {each.read, each.write});
  }
  const std::vector<source_line> lines = source_lines(places);
  updates found;
  for (std::size_t i = 0; i < places.size(); i += 2) {
    const source_line &read = lines[i], &write = lines[i + 1];
    const auto race = writers.find(place_text(write));
    // Where no two threads write one element, each has its own: the others only read it.
    if (race == writers.end()) continue;
    const bool is_one_line = !read.file.empty() && place_text(read) == place_text(write);
    const bool is_over_two_lines = read.file == write.file && read.line < write.line &&
                                   (race->second || decides(read, write)) && !exchanges(write);
    const bool updates_it =
        is_one_line || is_over_two_lines ||
        update_the_same(variables_changed_by(read.text), variables_changed_by(write.text));
    if (updates_it) found.places.insert(places[i]);
    if (updates_it || only_updates(write.text)) {
      found.places.insert(places[i + 1]);
      found.lines.insert(place_text(write));
    }
  }
  return found;
}

void name_stride(finding& of) {
  if (of.what != mistake::race || !of.is_between_blocks() || of.is_between_works() ||
      !of.lacks.without(lost_update).empty() || of.first.at.file != of.second.at.file) {
    return;
  }
  using kind = source_structure::span::kind;
  const source_structure& source = source_structure::of(of.first.at.file);
  const auto* const loop = source.around(of.first.at.line, kind::loop);
  if (!loop || loop != source.around(of.second.at.line, kind::loop)) return;
  const std::string_view text = source.line_text(loop->begin);
  const std::string_view head = condition_after("for", text);
  const std::size_t first = head.find(';'), second = head.find(';', first + 1);
  if (first == head.npos || second == head.npos) return;
  const auto has = [&](std::string_view part, std::string_view name) {
    return source.with_values(part, loop->begin).find(name) != std::string::npos;
  };
  const std::string_view begin = head.substr(0, first), step = head.substr(second + 1);
  const std::string_view end = head.substr(first, second - first);
  if (step.find("+=") == step.npos || !has(step, "blockDim") || has(step, "gridDim") ||
      !has(begin, "blockIdx") || !has(begin, "blockDim") || end.find("blockIdx") != end.npos) {
    return;
  }
  of.forget_way();
  of.lacks = {diagnosis::stride_of_one_block};
  of.cause = chain_step();
  of.cause->at = {of.first.at.file, loop->begin, std::string(text)};
}

void name_update(finding& of, const updates& known) {
  constexpr diagnosis_set of_no_order = {diagnosis::missing_syncwarp,
                                         diagnosis::missing_syncthreads, diagnosis::not_diagnosed};
  const diagnosis_set rest = of.lacks.without(of_no_order).without(of_volatile);
  const bool are_updates =
      (known.contain(of.first) && known.contain(of.second)) ||
      (is_checked_and_set(of.reader().at, of.writer().at) && !exchanges(of.writer().at));
  if (of.what != mistake::race || !rest.empty() || is_atomic(of.first.what) || !are_updates) return;
  of.lacks = of.lacks.without(of_no_order);
  const bool shares_states = of.is_between_blocks() && of.ranks.are_equal &&
                             of.ranks.least != of.ranks.largest && stores_a_state(of.writer().at);
  of.lacks.add(shares_states ? diagnosis::index_without_block : diagnosis::missing_atomic);
}

}  // namespace racecheck
