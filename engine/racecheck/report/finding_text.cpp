// SPDX-License-Identifier: MIT
#include "racecheck/report/finding_text.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>

namespace racecheck {

std::string index_text(const char* what, const uint3& index) {
  std::string text = std::string(what) + ' ';
  if (index.y == 0 && index.z == 0) return text + std::to_string(index.x);
  return text + '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
         std::to_string(index.z) + ')';
}

std::string thread_text(const uint3& block, const uint3& thread) {
  return index_text("block", block) + ' ' + index_text("thread", thread);
}

std::string verb_of(const party& of) {
  const std::string verb = of.what == operation::atomic_update ? "updated"
                           : writes(of.what)                   ? "written"
                                                               : "read";
  const std::string manner = manner_of(of);
  return verb + (manner.empty() ? "" : ' ' + manner);
}

std::string doing_of(const party& of) {
  return of.what == operation::atomic_update ? "updates" : writes(of.what) ? "writes" : "reads";
}

std::string manner_of(const party& of) {
  if (of.is_volatile) return "(volatile)";
  if (of.has_thread_scope) return "atomically at thread scope";
  if (!is_atomic(of.what)) return "";
  return of.within == scope::block ? "atomically at block scope" : "atomically";
}

bool own_file::has(const source_line& at) const {
  if (path.empty() || at.file.empty()) return false;
  const auto whole = [](const std::string& file) {
    return std::filesystem::absolute(file).lexically_normal();
  };
  std::error_code unknown;
  return whole(path) == whole(at.file) || std::filesystem::equivalent(path, at.file, unknown);
}

std::string place_text(const source_line& at, const own_file& own) {
  if (at.file.empty()) return "a place that the compiler does not name";
  return own.has(at) ? line_text(at, own) : at.file + ':' + std::to_string(at.line);
}

std::string line_text(const source_line& at, const own_file& own) {
  if (at.file.empty()) return "that line";
  const bool is_counted_anew = own.has(at) && at.line >= own.first_line;
  return "line " + std::to_string(is_counted_anew ? at.line - own.first_line + 1 : at.line);
}

namespace {

constexpr diagnosis_set missing_barriers = {diagnosis::missing_syncwarp,
                                            diagnosis::missing_syncthreads};

bool has_one_of(const diagnosis_set& all, const diagnosis_set& wanted) {
  return !all.common_with(wanted).empty();
}

diagnosis code_number(std::size_t number) { return static_cast<diagnosis>(number); }

bool barrier_is_enough(const finding& of) {
  constexpr diagnosis_set of_a_signal = {diagnosis::missing_release, diagnosis::missing_acquire};
  return !of.is_between_blocks() && of.memory == "shared memory" &&
         has_one_of(of.lacks, of_a_signal);
}

// Whether the two are meant to be ordered by atomics on another word, and something lacks on the
// way: as atomics they would be as unordered, only that no race would show it.
bool order_is_missing(const finding& of) { return !of.lacks.common_with(lacks_of_ways).empty(); }

bool is_narrow(const party& of) {
  return of.has_thread_scope || (is_atomic(of.what) && of.within == scope::block);
}

// What the texts of the table may ask of a finding.
struct text_maker {
  const located_finding& located;
  const own_file& own;
  const source_line* released = nullptr;  // of an arrow: where it is released

  std::string text_of(const char* text, const text_variant& variant) const;
  bool holds(condition when) const;
  std::string value_of(placeholder name) const;
  std::string cause_text() const;

  bool second_holds() const {
    return located.finding.cause && located.finding.cause->in_observers_block;
  }
  const source_line& published() const {
    return located.finding.is_hasty ? located.second : located.first;
  }
  const source_line& observed() const {
    return located.finding.is_hasty ? located.first : located.second;
  }
  std::string place_of_witness(const witness& of, const source_line& at) const {
    return of.known ? " at " + place_text(at, own) : "";
  }
  // `volatile_access` names it if it is none.
  std::string atomic_at(const witness& of, const source_line& at,
                        const char* volatile_access) const {
    const std::string what = of.is_volatile ? volatile_access : "the atomic";
    return of.known ? what + " at " + line_text(at, own) : what;
  }
};

bool text_maker::holds(condition when) const {
  const finding& found = located.finding;
  switch (when) {
    case condition::access_is_narrow:
      return is_narrow(found.first) || is_narrow(found.second);
    case condition::acquirer_is_volatile:
      return found.acquirer.is_volatile;
    case condition::also_between_blocks:
      return located.also_between_blocks;
    case condition::older_load_is_volatile:
      return found.older_load && found.older_load->is_volatile;
    case condition::on_one_line:
      return place_text(located.first) == place_text(located.second);
    case condition::order_is_missing:
      return order_is_missing(found);
    case condition::plain_one_is_volatile:
      return (is_atomic(found.first.what) ? found.second : found.first).is_volatile;
    case condition::releaser_is_volatile:
      return found.releaser.is_volatile;
    case condition::released_on_its_line:
      return place_text(published()) == place_text(located.releaser);
    case condition::same_block:
      return !found.is_between_blocks();
    case condition::same_block_and_no_barrier_advised:
      return !found.is_between_blocks() && !barrier_is_enough(found);
  }
  return false;
}

std::string text_maker::cause_text() const {
  const auto& cause = located.finding.cause;
  if (!cause || cause->what == chain_step::kind::barrier)
    return "an atomic or a fence between the two";
  return (cause->what == chain_step::kind::fence ? "the fence at " : "the atomic at ") +
         place_text(located.cause, own);
}

std::string text_maker::value_of(placeholder name) const {
  const finding& found = located.finding;
  switch (name) {
    case placeholder::acquire_place:
      return place_of_witness(found.acquirer, located.acquirer);
    case placeholder::acquiring_atomic:
      return atomic_at(found.acquirer, located.acquirer, "the volatile load");
    case placeholder::atomic_line:
      return line_text(is_atomic(found.first.what) ? located.first : located.second, own);
    case placeholder::plain_line:
      return line_text(is_atomic(found.first.what) ? located.second : located.first, own);
    case placeholder::reading_line:
      return line_text(writes(found.first.what) ? located.second : located.first, own);
    case placeholder::writing_line:
      return line_text(writes(found.first.what) ? located.first : located.second, own);
    case placeholder::cause:
      return cause_text();
    case placeholder::cause_place:
      return place_text(located.cause, own);
    case placeholder::first_bytes:
      return std::to_string(found.first.bytes);
    case placeholder::first_line:
      return line_text(located.first, own);
    case placeholder::second_bytes:
      return std::to_string(found.second.bytes);
    case placeholder::second_line:
      return line_text(located.second, own);
    case placeholder::holding_line:
      return line_text(second_holds() ? located.second : located.first, own);
    case placeholder::older_load_line:
      return line_text(located.older_load, own);
    case placeholder::older_load_thread: {
      const bool by_second = found.older_load && found.older_load->in_observers_block;
      const party& by = by_second ? found.second : found.first;
      return thread_text(by.block_index, by.thread_index);
    }
    case placeholder::other_line:
      return line_text(second_holds() ? located.first : located.second, own);
    case placeholder::release_line:
      return line_text(located.releaser, own);
    case placeholder::narrow_access:
      return place_text(is_narrow(found.first) ? located.first : located.second, own);
    case placeholder::observed_line:
      return line_text(observed(), own);
    case placeholder::observing_block:
      return index_text("block", found.observer().block_index);
    case placeholder::published_line:
      return line_text(published(), own);
    case placeholder::publishing_block:
      return index_text("block", found.publisher().block_index);
    case placeholder::release_place:
      return place_of_witness(found.releaser, located.releaser);
    case placeholder::released_line:
      return line_text(released ? *released : located.releaser, own);
    case placeholder::releasing_atomic:
      return atomic_at(found.releaser, located.releaser, "the volatile store");
    case placeholder::releasing_thread:
      return index_text("thread", found.releaser.thread_index);
  }
  return "";
}

std::string text_maker::text_of(const char* text, const text_variant& variant) const {
  std::string_view rest = variant.text && holds(variant.when) ? variant.text : text;
  std::string made;
  for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    const auto close = rest.find('}', open);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const auto known = std::ranges::find(placeholder_names, name);
    made += rest.substr(0, open);
    made += value_of(static_cast<placeholder>(known - placeholder_names.begin()));
    rest.remove_prefix(close + 1);
  }
  return made.append(rest);
}

// What is told besides the diagnoses.
diagnosis_set remarks_on(const located_finding& of) {
  const finding& found = of.finding;
  const bool is_unordered = found.lacks.empty() || has_one_of(found.lacks, missing_barriers);
  diagnosis_set remarks;
  if (found.what != mistake::race) return remarks;
  remarks.add(diagnosis::barrier_is_enough, barrier_is_enough(found));
  remarks.add(diagnosis::barrier_is_not_enough,
              of.also_between_blocks && has_one_of(found.lacks, missing_barriers));
  remarks.add(diagnosis::same_value_is_no_excuse, is_unordered &&
                                                      found.first.what == operation::write &&
                                                      found.second.what == operation::write);
  remarks.add(diagnosis::older_value_read, found.older_load.has_value());
  remarks.add(diagnosis::atomic_orders_nothing,
              found.lacks.has(diagnosis::plain_mixed_with_atomic) &&
                  !found.lacks.has(diagnosis::lock_opened_by_plain_store) &&
                  order_is_missing(found));
  return remarks;
}

// Whether another one of them says it better.
bool is_refined(diagnosis code, const diagnosis_set& codes) {
  constexpr diagnosis_set atomics_advised = {diagnosis::plain_store_beside_updates,
                                             diagnosis::plain_look_before_atomic};
  if (codes.has(diagnosis::atomic_orders_nothing) && atomics_advised.has(code)) return true;
  for (std::size_t i = 0; i < diagnosis_table.size(); ++i) {
    const bool refines = diagnosis_table[i].refines == code && code_number(i) != code;
    if (refines && codes.has(code_number(i))) return true;
  }
  return false;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : between) + each;
  return text;
}

std::string text_of_other_lines(const element_findings& of, const own_file& own) {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < of.other_lines.size() && i < most_named; ++i) {
    const auto& [first, second] = of.other_lines[i];
    named.push_back(place_text(first, own) + " and " + place_text(second, own));
  }
  if (of.other_lines.size() > most_named) named.emplace_back("...");
  return "and so at " + std::to_string(of.other_lines.size()) +
         (of.other_lines.size() == 1 ? " more pair" : " more pairs") +
         " of lines of this element: " + joined(named, "; ");
}

// "60 of these lack less: missing acquire"
std::string text_of_lesser(const located_finding& lesser, const finding& shown) {
  std::string text = std::to_string(lesser.finding.count) + " of these lack less: " +
                     joined(names_of(lesser.finding.codes_to_tell()), ", ");
  const diagnosis_set more = shown.lacks.without(lesser.finding.lacks);
  for (std::size_t i = 0; i < diagnosis_table.size(); ++i) {
    const diagnosis_row& row = diagnosis_table[i];
    if (*row.otherwise && more.has(code_number(i)) && lesser.finding.lacks.has(row.refines)) {
      text += std::string(" (") + row.otherwise + ')';
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> names_of(const diagnosis_set& codes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < diagnosis_table.size(); ++i) {
    if (codes.has(code_number(i)) && *diagnosis_table[i].name) {
      names.emplace_back(diagnosis_table[i].name);
    }
  }
  return names;
}

std::string heading_of(const located_finding& of) {
  const finding& found = of.finding;
  switch (found.what) {
    case mistake::unwritten_read:
      return "unwritten " + found.memory + " on " + found.object;
    case mistake::outside:
      return "access outside of " + found.memory + ": " + found.object;
    default:
      return "race (" + found.memory + ") on " + found.object;
  }
}

std::string access_text(const party& of, const source_line& at, const own_file& own) {
  return verb_of(of) + " by " + thread_text(of.block_index, of.thread_index) + " at " +
         place_text(at, own);
}

std::vector<std::pair<diagnosis, std::string>> advice_of(const located_finding& of,
                                                         const own_file& own) {
  diagnosis_set codes = of.finding.codes_to_tell();
  codes.add(remarks_on(of));
  const text_maker maker{of, own};
  std::vector<std::pair<diagnosis, std::string>> advice;
  for (std::size_t i = 0; i < diagnosis_table.size(); ++i) {
    const diagnosis_row& row = diagnosis_table[i];
    if (!codes.has(code_number(i)) || !*row.advice || is_refined(code_number(i), codes)) continue;
    advice.emplace_back(code_number(i), maker.text_of(row.advice, row.advice_if));
  }
  return advice;
}

std::string repair_of(diagnosis code, const located_finding& of, const drawn_chain::arrow& arrow) {
  const own_file any;
  text_maker maker{of, any};
  if (arrow.kind == "barrier") maker.released = &of.chain.events[arrow.to].location;
  return maker.text_of(row_of(code).repair, row_of(code).repair_if);
}

std::string text_of(const located_finding& of, const own_file& own) {
  std::string text = heading_of(of) + '\n';
  const auto add_access = [&](const party& by, const source_line& at) {
    text += "  " + access_text(by, at, own) + '\n';
    if (!at.text.empty()) text += "      " + at.text + '\n';
  };
  if (of.finding.what == mistake::race) add_access(of.finding.first, of.first);
  add_access(of.finding.second, of.second);
  for (const auto& [code, sentence] : advice_of(of, own)) text += "  " + sentence + '\n';
  return text;
}

std::vector<std::string> notes_of(const element_findings& of, std::uint64_t schedules,
                                  const own_file& own) {
  std::vector<std::string> notes;
  for (const located_finding& each : of.lesser) {
    notes.push_back(text_of_lesser(each, of.shown.finding));
  }
  if (!of.other_lines.empty()) notes.push_back(text_of_other_lines(of, own));
  std::string seeds = "seed " + std::to_string(of.shown.seed);
  if (schedules != 0) {
    seeds += ", and in " + std::to_string(of.seeds.size()) + " of " + std::to_string(schedules) +
             (schedules == 1 ? " schedule" : " schedules");
  }
  if (of.count > 1) {
    seeds += "; " + std::to_string(of.count - 1) + " more " +
             (of.other_lines.empty() ? "at these lines" : "of this element");
  }
  notes.push_back(std::move(seeds));
  return notes;
}

}  // namespace racecheck
