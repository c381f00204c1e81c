// SPDX-License-Identifier: MIT
#include "racecheck/report/atomics_in_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>

#include "racecheck/report/changed_variables.hpp"

namespace racecheck {

bool takes_a_lock(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
  const bool exchanges = has("0, 1)") || has("exchange(1") || has("test_and_set") ||
                         (has("atomicExch") && has(", 1)"));
  return exchanges && has_name(line, "while");
}

bool compares_and_swaps(std::string_view line) {
  return line.find("compare_exchange") != line.npos || line.find("atomicCAS") != line.npos;
}

bool drops_its_result(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" {}");
  if (begin == line.npos) return false;
  const std::string_view text = line.substr(begin);
  const std::size_t member = std::min(text.find(".fetch_"), text.find(".exchange("));
  return text.starts_with("atomic") ||
         (member != text.npos && text.find_first_of("=;") > member && !has_name(text, "while") &&
          !has_name(text, "if") && !has_name(text, "return"));
}

bool changes_nothing(std::string_view line) {
  const std::size_t at = last_atomic_of(line);
  if (at == line.npos) return false;
  const std::string_view call = line.substr(at);
  const bool can = std::ranges::any_of(
      std::array{"Add", "Or", "Xor", "Sub", "fetch_"},
      [&](auto each) { return call.substr(0, call.find('(')).find(each) != call.npos; });
  const std::size_t end = call.find(')');
  if (!can || end == call.npos) return false;
  const std::size_t last = call.find_last_of(" (,", end - 1) + 1;
  const std::string_view operand = call.substr(last, end - last);
  return operand.starts_with('0') && operand.find_first_not_of("0uUlLf.") == operand.npos;
}

bool takes_back(std::string_view one, std::string_view other) {
  const auto has = [](std::string_view line, std::string_view part) {
    return line.find(part) != line.npos;
  };
  const auto adds = [&](std::string_view line) {
    return has(line, "atomicAdd") || has(line, ".fetch_add") || has(line, "atomicInc");
  };
  const auto subtracts = [&](std::string_view line) {
    return has(line, "atomicSub") || has(line, ".fetch_sub") || has(line, "atomicDec") ||
           (has(line, "atomicAdd") && has(line, ", -")) ||
           ((has(line, "atomicCAS") || has(line, ".compare_exchange_")) && has(line, " - 1)"));
  };
  return operand_of_atomic(one) == operand_of_atomic(other) &&
         ((adds(one) && subtracts(other)) || (subtracts(one) && adds(other)));
}

bool has_update(std::string_view text) {
  return std::ranges::any_of(
      std::array{"atomicMax", "atomicMin", "atomicExch", "atomicCAS", "atomicAdd", "atomicSub",
                 "atomicInc", "atomicOr", ".fetch_", ".exchange(", ".compare_exchange_"},
      [&](auto each) { return text.find(each) != text.npos; });
}

bool waits_at_a_barrier(std::string_view line) {
  return line.find("wait(") != line.npos || line.find("wait_parity(") != line.npos;
}

bool waits_plainly(std::string_view line) {
  const std::string_view condition = condition_after("while", line);
  const auto has = [&](std::string_view part) { return condition.find(part) != line.npos; };
  return !condition.empty() && !has(".load(") && !has(".test(") && !has("atomic");
}

bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char each) { return std::isalpha(each) != 0; });
}

bool has_the_same_index(std::string_view atomic, std::string_view store) {
  return std::ranges::any_of(
      variables_changed_by(store).stored_places, [&](const std::string& place) {
        const std::size_t index = place.find('[');
        return index != std::string::npos && has_letter(place.substr(index)) &&
               atomic.find(place.substr(index)) != atomic.npos;
      });
}

std::size_t last_atomic_of(std::string_view line) {
  std::size_t last = line.npos;
  for (const std::string_view each :
       {"atomic", ".store(", ".exchange(", ".compare_exchange_", ".fetch_"}) {
    const std::size_t at = line.rfind(each);
    if (at != line.npos && (last == line.npos || at > last)) last = at;
  }
  return last;
}

std::string_view operand_of_atomic(std::string_view line) {
  const std::size_t at = last_atomic_of(line);
  if (at == line.npos) return "";
  const bool is_member = line[at] == '.';
  const std::size_t before = is_member ? line.find_last_of(" ;{}", at) : line.find('(', at);
  const std::size_t end = is_member ? at : line.find(',', at);
  std::size_t begin = before == line.npos ? 0 : before + 1;
  while (is_member && begin < at && (line[begin] == '(' || line[begin] == '!')) ++begin;
  return end == line.npos || end < begin ? "" : line.substr(begin, end - begin);
}

bool goes_on_after_its_atomic(std::string_view line) {
  const std::size_t last = last_atomic_of(line);
  const std::size_t end = last == line.npos ? last : line.find(';', last);
  return end != line.npos && line.find_first_of("[*>", end) != line.npos;
}

}  // namespace racecheck
