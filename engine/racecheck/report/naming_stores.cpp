// SPDX-License-Identifier: MIT
// Stores of several threads to one element by one statement.
#include <algorithm>
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

using condition = source_structure::condition;

bool is_common_store(const finding& of) {
  return of.what == mistake::race && !of.is_between_works() && of.first.what == operation::write &&
         of.second.what == operation::write &&
         place_text(of.first.at) == place_text(of.second.at) &&
         of.lacks.without(missing_barriers).without(of_volatile).empty();
}

// Whether the condition goes by what an atomic maximum or minimum returns, of which several threads
// may be in turn.
bool is_decided_by_extreme(std::string_view condition) {
  const std::size_t atomic = condition.find("atomic");
  const bool is_one =
      condition.find("fetch_m") != condition.npos ||
      (atomic != condition.npos && (condition.find("ax", atomic) != condition.npos ||
                                    condition.find("in", atomic) != condition.npos));
  return is_one && condition.find_first_of("<>") != condition.npos;
}

bool reads_memory(std::string_view condition) {
  return condition.find('[') != condition.npos || condition.find("(*") != condition.npos ||
         condition.find("->") != condition.npos;
}

// Whether the line stores to one element whatever the thread's number is.
bool has_no_index(std::string_view line) {
  const std::set<std::string> places = variables_changed_by(line).stored_places;
  return std::ranges::none_of(places, [](const std::string& place) {
    return has_letter(place.substr(std::min(place.find('['), place.size())));
  });
}

}  // namespace

void name_stores(std::vector<finding>& all) {
  std::set<std::string> updated;  // where what is updated without an atomic is read
  for (const finding& each : all) {
    if (each.lacks == lost_update)
      updated.insert({place_text(each.first.at), place_text(each.second.at)});
  }
  for (finding& each : all) {
    if (!is_common_store(each)) continue;
    source_line decides = each.first.at;
    const source_structure& source = source_structure::of(decides.file);
    bool by_data = false;
    for (const condition& of : source.conditions_of(decides.line)) {
      decides.line = of.line;
      const std::string whole = source.with_values(of.text, of.line);
      if (is_decided_by_extreme(whole) || updated.contains(place_text(decides))) {
        decides.text = of.text;
        each.forget_way();
        each.lacks = {diagnosis::store_after_decision};
        each.cause = chain_step();
        each.cause->at = decides;
        break;
      }
      by_data |=
          reads_memory(whole) || (has_update(whole) && whole.find_first_of("<>") != whole.npos);
    }
    if (by_data && !each.cause && has_no_index(each.first.at.text)) {
      each.forget_way();
      each.lacks = {diagnosis::stored_by_several};
    }
  }
}

}  // namespace racecheck
