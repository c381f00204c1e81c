// SPDX-License-Identifier: MIT
// Accesses that a lock of the program's own, or none at all, was meant to keep apart: what stands
// around their lines.
#include <algorithm>
#include <string>
#include <string_view>

#include "racecheck/report/atomics_in_source.hpp"
#include "racecheck/report/changed_variables.hpp"
#include "racecheck/report/naming.hpp"
#include "racecheck/report/source_structure.hpp"

namespace racecheck {
namespace {

using kind = source_structure::span::kind;

// What the line calls of an object, if the file has it: acquire() of lock.acquire().
const source_structure::span* called_at(const source_structure& source, std::string_view line) {
  const std::size_t dot = line.find('.'), end = line.find('(', std::min(dot, line.size()));
  return end == line.npos ? nullptr : source.function_named(line.substr(dot + 1, end - dot - 1));
}

// What an atomic of the line changes, or the object of which it calls a function that has an
// atomic: "lock" of lock.acquire().
std::string_view word_of(const source_structure& source, std::string_view line) {
  if (last_atomic_of(line) != line.npos) return operand_of_atomic(line);
  const auto* const called = called_at(source, line);
  if (!called || last_atomic_of(source.text_of(*called)) == std::string::npos) return "";
  const std::size_t dot = line.find('.');
  const std::size_t begin = line.find_last_of(" (!;{", dot) + 1;
  return line.substr(begin, dot - begin);
}

// Whether the access stands between two changes of one word by its thread, which has waited as
// well, as one under a lock does.
bool is_guarded(const source_line& access) {
  const source_structure& source = source_structure::of(access.file);
  const auto* const function = source.around(access.line, kind::function);
  if (!function) return false;
  bool waits = false, is_between = false;
  for (unsigned line = function->begin + 1; line < access.line; ++line) {
    const std::string_view before = source.line_text(line);
    const std::string_view word = word_of(source, before);
    if (!source.decides_more(line, access.line)) continue;
    const auto* const called = called_at(source, before);
    waits |= has_name(before, "while") || (called && has_name(source.text_of(*called), "while"));
    for (unsigned next = access.line + 1; !word.empty() && next <= function->end; ++next) {
      const std::string_view after = source.line_text(next);
      is_between |= source.decides_more(next, access.line) && after != before &&
                    word_of(source, after) == word;
    }
  }
  return waits && is_between;
}

void set(finding& of, diagnosis code, unsigned line) {
  of.forget_way();
  of.lacks = {code};
  const std::string& file = of.first.at.file;
  of.cause = chain_step();
  of.cause->at = {file, line, std::string(source_structure::of(file).line_text(line))};
}

// The line on which the name that the access goes by is taken out of a word that the reader has
// loaded; 0 if it is not. (What `*old = 0` itself assigns is no value of `old`.)
unsigned taken_out_at(const finding& of) {
  const source_line &write = of.writer().at, &read = of.reader().at;
  const source_structure& source = source_structure::of(write.file);
  const std::string values = source.with_values(write.text, write.line - 1);
  const std::size_t atomic = last_atomic_of(values);
  if (atomic == std::string::npos || values.compare(atomic, 10, ".exchange(") != 0) return 0;
  const std::string_view word = operand_of_atomic(values);
  if (!has_name(source.with_values(read.text, read.line), word)) return 0;
  for (unsigned line = write.line; line > 0; --line) {
    const std::string_view text = source.line_text(line);
    if (text.find(".exchange(") != text.npos && operand_of_atomic(text) == word) return line;
  }
  return 0;
}

// The line before the read on which its thread waits for another element of the array by which the
// writer signals after its write; 0 if there is none.
unsigned waits_for_another_at(const finding& of) {
  const source_line &write = of.first.at, &read = of.second.at;
  const source_structure& source = source_structure::of(write.file);
  const auto* const function = source.around(read.line, kind::function);
  const auto* const writes = source.around(write.line, kind::function);
  if (!function || !writes) return 0;
  for (unsigned signal = write.line + 1; signal <= writes->end; ++signal) {
    const std::string_view word = operand_of_atomic(source.line_text(signal));
    const std::string_view array = word.substr(0, word.find('['));
    for (unsigned line = function->begin; array != word && line < read.line; ++line) {
      const std::string_view text = source.line_text(line);
      if (has_name(text, "while") && has_name(text, array) && text.find(word) == text.npos)
        return line;
    }
  }
  return 0;
}

// The compare-exchange that goes by what the reader has read, and fails if a writer, which changes
// the same word, came in between; 0 if there is none.
unsigned checked_at(const finding& of) {
  constexpr unsigned most_lines = 4;
  const source_line &write = of.writer().at, &read = of.reader().at;
  const source_structure& source = source_structure::of(read.file);
  const auto compared = [&](unsigned line) {
    const std::string_view text = source.line_text(line);
    return compares_and_swaps(text) ? operand_of_atomic(text) : "";
  };
  for (const std::string& name : variables_changed_by(read.text).assigned) {
    for (unsigned line = read.line + 1; line <= read.line + most_lines; ++line) {
      const std::string_view word = compared(line);
      if (word.empty() || !has_name(source.line_text(line), name)) continue;
      for (unsigned next = write.line + 1; next <= write.line + most_lines; ++next) {
        if (compared(next) == word) return line;
      }
    }
  }
  return 0;
}

// The exchange of the word that belongs to the element that both lines access after it; 0 if there
// is none.
unsigned exchanged_at(const finding& of) {
  const source_structure& source = source_structure::of(of.first.at.file);
  const auto* const function = source.around(of.first.at.line, kind::function);
  if (!function || !function->holds(of.second.at.line)) return 0;
  for (unsigned line = std::min(of.first.at.line, of.second.at.line) - 1; line > function->begin;
       --line) {
    const std::string_view text = source.line_text(line);
    const bool is_exchange =
        text.find("atomicExch(") != text.npos || text.find(".exchange(") != text.npos;
    if (is_exchange && !drops_its_result(text) && !has_name(text, "if") &&
        !has_name(text, "while") && has_the_same_index(text, of.writer().at.text)) {
      return line;
    }
  }
  return 0;
}

}  // namespace

void name_lock_free(finding& of) {
  constexpr diagnosis_set by_chance = {
      diagnosis::missing_atomic,           diagnosis::lock_on_one_side,
      diagnosis::missing_meeting,          diagnosis::write_after_signal,
      diagnosis::read_between_two_signals, diagnosis::access_after_release};
  const source_line &first = of.first.at, &second = of.second.at;
  if (of.what != mistake::race || of.is_between_works() || is_atomic(of.first.what) ||
      is_atomic(of.second.what) || first.file != second.file ||
      !of.lacks.without(by_chance).without(lacks_of_ways).empty()) {
    return;
  }
  // Who reads first has not missed the writer's release.
  const bool lacks_signal = !of.lacks.common_with(lacks_of_ways).empty();
  const bool reads_first = of.first.what == operation::read;
  const bool is_read = of.reader().what == operation::read;
  const bool may_be_checked = reads_first || (is_read && !lacks_signal);
  if (const unsigned checked = may_be_checked ? checked_at(of) : 0) {
    set(of, diagnosis::read_before_its_check, checked);
  } else if (const unsigned exchanged = exchanged_at(of)) {
    set(of, diagnosis::exchanged_in_two_steps, exchanged);
  } else if (lacks_signal || !of.is_between_blocks()) {
    return;
  } else if (const unsigned taken = is_read ? taken_out_at(of) : 0) {
    set(of, diagnosis::reclaimed_too_early, taken);
  } else if (is_guarded(first) && is_guarded(second)) {
    of.forget_way();
    of.lacks = {diagnosis::lock_lets_both_in};
  } else if (of.lacks.empty() && writes(of.first.what) && !writes(of.second.what)) {
    if (const unsigned waits = waits_for_another_at(of))
      set(of, diagnosis::signal_not_awaited, waits);
  }
}

}  // namespace racecheck
