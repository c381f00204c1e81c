// SPDX-License-Identifier: MIT
#include "racecheck/report/finding_text.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "cpu_backend/execution/words.hpp"

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

std::string work_text(const racing_work& of) {
  // By work_kind.
  constexpr const char* kinds[] = {"kernel",          "a copy",
                                   "a fill",          "cudaMallocAsync()",
                                   "cudaFreeAsync()", "a function of the host",
                                   "the host"};
  const std::string text = kinds[static_cast<std::size_t>(of.kind)];
  if (of.is_host()) return text;
  return text + (of.name.empty() ? "" : ' ' + of.name) + " in " + of.stream;
}

std::string verb_of(const racing_access& of) {
  if (of.work && of.work->kind == cpu_backend::work_kind::allocation) return "allocated";
  if (of.work && of.work->kind == cpu_backend::work_kind::release) return "freed";
  const std::string verb = of.what == operation::atomic_update ? "updated"
                           : writes(of.what)                   ? "written"
                                                               : "read";
  const std::string manner = manner_of(of);
  return verb + (manner.empty() ? "" : ' ' + manner);
}

std::string doing_of(const racing_access& of) {
  return of.what == operation::atomic_update ? "updates" : writes(of.what) ? "writes" : "reads";
}

std::string manner_of(const racing_access& of) {
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

bool has_one_of(const diagnosis_set& all, const diagnosis_set& wanted) {
  return !all.common_with(wanted).empty();
}

bool barrier_is_enough(const finding& of) {
  constexpr diagnosis_set of_a_signal = {diagnosis::missing_release, diagnosis::missing_acquire};
  return !of.is_between_blocks() && !of.in_two_branches && of.memory == "shared memory" &&
         has_one_of(of.lacks, of_a_signal);
}

// Whether the two are meant to be ordered by atomics on another word, and something lacks on the
// way: as atomics they would be as unordered, only that no race would show it.
bool order_is_missing(const finding& of) { return !of.lacks.common_with(lacks_of_ways).empty(); }

bool is_narrow(const racing_access& of) {
  return of.has_thread_scope || (is_atomic(of.what) && of.within == scope::block);
}

// Whether a barrier between a plain access and an atomic one is advised.
bool is_barrier_advised(const finding& of) {
  return !of.is_between_blocks() && !of.in_two_branches && !barrier_is_enough(of);
}

bool is_written_by_one_statement(const finding& of) {
  return of.first.what == operation::write && of.second.what == operation::write &&
         place_text(of.first.at) == place_text(of.second.at);
}

// Whether the thread that signals is of the warp for which it does.
bool is_released_in_one_warp(const finding& of) {
  constexpr unsigned warp_size = 32;
  const uint3 &one = of.releaser.thread_index, &other = of.publisher().thread_index;
  return !of.is_between_blocks() && of.releaser.known && one.y == other.y && one.z == other.z &&
         one.x / warp_size == other.x / warp_size;
}

// " at FILE:LINE"; nothing if it is not known.
std::string place_of(const synchronizing_operation& of, const own_file& own) {
  return of.known ? " at " + place_text(of.at, own) : "";
}
// `volatile_access` names it if it is none.
std::string atomic_at(const synchronizing_operation& of, const char* volatile_access,
                      const own_file& own) {
  const std::string what = of.is_volatile ? volatile_access : "the atomic";
  return of.known ? what + " at " + line_text(of.at, own) : what;
}

source_line line_of(const std::optional<chain_step>& step) {
  return step ? step->at : source_line();
}

std::string cause_text(const std::optional<chain_step>& cause, const own_file& own) {
  if (!cause || cause->what == chain_step::kind::barrier)
    return "an atomic or a fence between the two";
  return (cause->what == chain_step::kind::fence ? "the fence at " : "the atomic at ") +
         place_text(cause->at, own);
}

}  // namespace

std::map<std::string_view, bool> conditions_of(const finding& of) {
  return {
      {"access_is_narrow", is_narrow(of.first) || is_narrow(of.second)},
      {"acquirer_is_volatile", of.acquirer.is_volatile},
      {"also_between_blocks", of.also_between_blocks},
      {"in_one_warp", is_released_in_one_warp(of)},
      {"older_load_is_volatile", of.older_load && of.older_load->is_volatile},
      {"on_one_line", place_text(of.first.at) == place_text(of.second.at)},
      {"order_is_missing", order_is_missing(of)},
      {"plain_one_is_volatile", of.plain_one().is_volatile},
      {"releaser_is_volatile", of.releaser.is_volatile},
      {"released_on_its_line", place_text(of.publisher().at) == place_text(of.releaser.at)},
      {"same_block", !of.is_between_blocks()},
      {"same_block_and_no_barrier_advised", is_barrier_advised(of)},
      {"written_by_one_statement", is_written_by_one_statement(of)},
  };
}

namespace {

// By which the host waits for the stream.
std::string wait_text(const racing_work& of) {
  constexpr std::string_view named = "stream ";
  if (!of.stream.starts_with(named)) return "cudaDeviceSynchronize()";
  const std::string name = of.stream.substr(named.size());
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
  return "cudaStreamSynchronize(" + (is_number ? "" : name) + ')';
}

// What a race of two works is told with; nothing of any other.
void add_works(std::map<std::string_view, std::string>& to, const finding& of,
               const own_file& own) {
  const bool both = of.is_between_works();
  const racing_access& host = both && of.first.work->is_host() ? of.first : of.second;
  const racing_access& device = &host == &of.first ? of.second : of.first;
  const auto put = [&](std::string_view name, auto text) { to[name] = both ? text() : ""; };
  put("first_stream", [&] { return of.first.work->stream; });
  put("second_stream", [&] { return of.second.work->stream; });
  put("first_given", [&] { return line_text(of.first.work->at, own); });
  put("second_given", [&] { return line_text(of.second.work->at, own); });
  put("host_does", [&] { return doing_of(host); });
  put("host_line", [&] { return line_text(host.at, own); });
  // "the copy at line 19 in stream copies": advice names one work.
  put("device_work", [&] {
    if (device.work->is_host()) return std::string();
    const std::string text = work_text(*device.work);
    const std::string named = text.starts_with("a ") ? "the " + text.substr(2) : text;
    const auto in = named.rfind(" in ");
    return named.substr(0, in) + " of " + line_text(device.work->at, own) + named.substr(in);
  });
  put("wait", [&] { return wait_text(*device.work); });
}

}  // namespace

std::map<std::string_view, std::string> values_of(const finding& of, const own_file& own) {
  const auto line = [&](const source_line& at) { return line_text(at, own); };
  const bool second_holds = of.cause && of.cause->in_observers_block;
  const bool by_second = of.older_load && of.older_load->in_observers_block;
  const racing_access& of_older_load = by_second ? of.second : of.first;
  std::map<std::string_view, std::string> values = {
      {"acquire_line", line(of.acquirer.at)},
      {"acquire_place", place_of(of.acquirer, own)},
      {"acquiring_atomic", atomic_at(of.acquirer, "the volatile load", own)},
      {"atomic_line", line(of.atomic_one().at)},
      {"plain_line", line(of.plain_one().at)},
      {"reading_line", line(of.reader().at)},
      {"writing_line", line(of.writer().at)},
      {"cause", cause_text(of.cause, own)},
      {"cause_line", line(line_of(of.cause))},
      {"cause_place", place_text(line_of(of.cause), own)},
      {"first_bytes", std::to_string(of.first.bytes)},
      {"memory", of.memory},
      {"object", of.object},
      {"first_line", line(of.first.at)},
      {"second_bytes", std::to_string(of.second.bytes)},
      {"second_line", line(of.second.at)},
      {"holding_line", line((second_holds ? of.second : of.first).at)},
      {"other_line", line((second_holds ? of.first : of.second).at)},
      {"older_load_line", line(line_of(of.older_load))},
      {"older_load_thread", thread_text(of_older_load.block_index, of_older_load.thread_index)},
      {"narrow_access", place_text((is_narrow(of.first) ? of.first : of.second).at, own)},
      {"observed_line", line(of.observer().at)},
      {"observing_block", index_text("block", of.observer().block_index)},
      {"published_line", line(of.publisher().at)},
      {"publishing_block", index_text("block", of.publisher().block_index)},
      {"release_line", line(of.releaser.at)},
      {"release_place", place_of(of.releaser, own)},
      {"released_line", line(of.releaser.at)},
      {"releasing_atomic", atomic_at(of.releaser, "the volatile store", own)},
      {"releasing_thread", index_text("thread", of.releaser.thread_index)},
  };
  add_works(values, of, own);
  return values;
}

namespace {

const words::row* row_of(diagnosis code, std::string_view part) {
  return words::find(std::string(code_of(code)) + '.' + std::string(part));
}

// The row for that part of what is said of a diagnosis, with all its gaps filled; the last one of
// those whose condition holds, if there is one. `released`: where it is released, if not by the
// finding's own operation.
std::string text_of(diagnosis code, const char* part, const finding& of, const own_file& own,
                    const source_line* released = nullptr) {
  const words::row* row = row_of(code, part);
  for (const auto& [condition, holds] : conditions_of(of)) {
    const words::row* const variant = row_of(code, part + ('.' + std::string(condition)));
    if (variant && holds) row = variant;
  }
  if (!row) return "";
  auto values = values_of(of, own);
  if (released) values["released_line"] = line_text(*released, own);
  return words::filled(
      row->text, [](std::string_view) { return true; },
      [&](std::string_view name, std::string_view) { return values.at(name); });
}

// What is told besides the diagnoses.
diagnosis_set remarks_on(const finding& found) {
  const bool is_unordered = found.lacks.empty() || has_one_of(found.lacks, missing_barriers);
  diagnosis_set remarks;
  if (found.what != mistake::race) return remarks;
  remarks.add(diagnosis::barrier_is_enough, barrier_is_enough(found));
  remarks.add(diagnosis::barrier_is_not_enough,
              found.also_between_blocks && has_one_of(found.lacks, missing_barriers));
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

// The diagnosis about which this one says more; itself if there is none.
diagnosis refined_by(diagnosis code) {
  switch (code) {
    case diagnosis::scope_of_one_thread:
      return diagnosis::scope_too_narrow;
    case diagnosis::only_a_fence_acquires:
      return diagnosis::missing_acquire;
    case diagnosis::atomic_orders_nothing:
    case diagnosis::lock_opened_by_plain_store:
    case diagnosis::plain_store_beside_updates:
    case diagnosis::plain_look_before_atomic:
      return diagnosis::plain_mixed_with_atomic;
    default:
      return code;
  }
}

// Whether another one of them says it better.
bool is_refined(diagnosis code, const diagnosis_set& codes) {
  constexpr diagnosis_set atomics_advised = {diagnosis::plain_store_beside_updates,
                                             diagnosis::plain_look_before_atomic};
  if (codes.has(diagnosis::atomic_orders_nothing) && atomics_advised.has(code)) return true;
  return std::ranges::any_of(
      all_of(codes), [&](diagnosis each) { return each != code && refined_by(each) == code; });
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
std::string text_of_lesser(const finding& lesser, const finding& shown) {
  std::string text = std::to_string(lesser.count) +
                     " of these lack less: " + joined(names_of(lesser.codes_to_tell()), ", ");
  for (const diagnosis more : all_of(shown.lacks.without(lesser.lacks))) {
    const words::row* const row = row_of(more, "otherwise");
    if (row && lesser.lacks.has(refined_by(more))) {
      text += " (" + std::string(row->text) + ')';
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> names_of(const diagnosis_set& codes) {
  std::vector<std::string> names;
  for (const diagnosis each : all_of(codes)) {
    if (const words::row* row = row_of(each, "name")) names.emplace_back(row->text);
  }
  return names;
}

std::string heading_of(const finding& of) {
  if (of.what == mistake::race) return "race (" + of.memory + ") on " + of.object;
  return text_of(code_of(of.what), "heading", of, {});
}

std::string access_text(const racing_access& of, const own_file& own) {
  if (of.work) {
    const std::string text =
        verb_of(of) + " by " + work_text(*of.work) + " at " + place_text(of.at, own);
    const std::string given = line_text(of.work->at, own);
    if (of.work->kind == cpu_backend::work_kind::kernel) return text + ", launched at " + given;
    return of.work->kind == cpu_backend::work_kind::callback ? text + ", given to it at " + given
                                                             : text;
  }
  return verb_of(of) + " by " + thread_text(of.block_index, of.thread_index) + " at " +
         place_text(of.at, own);
}

std::vector<std::pair<diagnosis, std::string>> advice_of(const finding& of, const own_file& own) {
  diagnosis_set codes = of.codes_to_tell();
  codes.add(remarks_on(of));
  std::vector<std::pair<diagnosis, std::string>> advice;
  for (const diagnosis each : all_of(codes)) {
    if (row_of(each, "advice") && !is_refined(each, codes))
      advice.emplace_back(each, text_of(each, "advice", of, own));
  }
  return advice;
}

std::string repair_of(diagnosis code, const finding& of, const drawn_chain::arrow& arrow) {
  const bool is_barrier = arrow.kind == "barrier";
  return text_of(code, "repair", of, {},
                 is_barrier ? &of.drawn.events[arrow.to].location : nullptr);
}

std::string text_of(const finding& of, const own_file& own) {
  std::string text = heading_of(of) + '\n';
  const auto add_access = [&](const racing_access& by) {
    std::string line = access_text(by, own);
    if (of.what == mistake::two_barriers) line.replace(0, line.find(' '), "reached");
    text += "  " + line + '\n';
    if (!by.at.text.empty()) text += "      " + by.at.text + '\n';
  };
  if (of.has_two_accesses()) add_access(of.first);
  add_access(of.second);
  for (const auto& [code, sentence] : advice_of(of, own)) text += "  " + sentence + '\n';
  return text;
}

std::vector<std::string> notes_of(const element_findings& of, std::uint64_t schedules,
                                  const own_file& own) {
  std::vector<std::string> notes;
  for (const finding& each : of.lesser) {
    notes.push_back(text_of_lesser(each, of.shown));
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
