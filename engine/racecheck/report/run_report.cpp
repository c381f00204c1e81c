// SPDX-License-Identifier: MIT
#include "racecheck/report/run_report.hpp"

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "cpu_backend/execution/diagnostic.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/places.hpp"
#include "racecheck/report/finding_json.hpp"
#include "racecheck/report/finding_text.hpp"

namespace racecheck {

namespace {

using json = nlohmann::ordered_json;

struct event_name {
  event what;
  const char* key;
};
constexpr event_name event_names[] = {
    {event::global_load, "global_loads"},
    {event::global_store, "global_stores"},
    {event::global_atomic, "global_atomics"},
    {event::shared_load, "shared_loads"},
    {event::shared_store, "shared_stores"},
    {event::shared_atomic, "shared_atomics"},
    {event::fence, "fences"},
};

json json_of(const dim3& size) { return {size.x, size.y, size.z}; }

json json_of(const share_counts& of) {
  return {{"total", of.total},
          {"most_per_block", of.most_per_block},
          {"most_per_thread", of.most_per_thread}};
}

json json_of(const launch_counts& counts) {
  const cpu_backend::source_line at = cpu_backend::make_source_line(
      counts.launch.called_from.file(), counts.launch.called_from.line());
  json made = {
      {"kernel", counts.launch.kernel ? short_name(find_function(counts.launch.kernel)) : ""},
      {"file", at.file},
      {"line", at.line},
      {"blocks", json_of(counts.launch.blocks)},
      {"threads", json_of(counts.launch.threads)},
      {"completed", counts.completed},
      {"blocks_begun", counts.blocks_begun},
      {"static_shared_bytes", counts.static_shared_bytes},
      {"dynamic_shared_bytes", counts.dynamic_shared_bytes}};
  if (!counts.loaded.empty()) made["loaded"] = counts.loaded;
  if (counts.unseen_bytes_stored) made["unseen_bytes_stored"] = *counts.unseen_bytes_stored;
  if (counts.is_noted) {
    made["kept_bytes_stored"] = json_of(counts.kept);
    made["bytes_of_work"] = json_of(counts.work);
    made["input_bytes_loaded"] = json_of(counts.loads);
  }
  for (const event_name& each : event_names) {
    made[each.key] = {{"total", counts.total.events[each.what]},
                      {"most_per_block", counts.most_per_block.events[each.what]},
                      {"most_per_thread", counts.most_per_thread[each.what]}};
  }
  for (const block_number& each : block_numbers) {
    made[each.key] = {{"total", counts.total.*each.which},
                      {"most_per_block", counts.most_per_block.*each.which}};
  }
  return made;
}

bool write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".temporary";
  std::ofstream out(temporary);
  out << text << std::flush;
  return out && std::rename(temporary.c_str(), path.c_str()) == 0;
}

// A list with one entry for each launch: docs/internals/racecheck.md has the keys.
json json_of(const std::vector<launch_counts>& launches) {
  json made = json::array();
  for (const launch_counts& each : launches) made.push_back(json_of(each));
  return made;
}

}  // namespace

bool write_descriptor(int descriptor, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t size = write(descriptor, text.data() + written, text.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    written += static_cast<std::size_t>(size);
  }
  return true;
}

bool write_json_report(const std::string& path, const run_summary& of,
                       const std::vector<finding>* findings, const run_counts* counts) {
  json report = {{"seed", of.seed},
                 {"launches", of.launches},
                 {"failed_launches", of.failed_launches},
                 {"ended_in_kernel", of.ended_in_kernel},
                 {"ended_by_time", of.ended_by_time},
                 {"accesses", of.accesses},
                 {"forgotten_reads", of.forgotten_reads},
                 {"why_lines_are_missing", cpu_backend::why_lines_are_missing()}};
  if (of.is_interim) report["is_interim"] = true;
  if (findings) {
    report["findings"] = json::array();
    for (const finding& each : *findings) report["findings"].push_back(json_of(each));
  }
  if (counts && counts->only_unseen) {
    report["unseen_stores"] = json_of(counts->launches);
  } else if (counts) {
    report["launch_counts"] = json_of(counts->launches);
    report["runtime_calls"] = counts->host.runtime_calls;
    report["number_of_runtime_calls"] = counts->host.number_of_runtime_calls;
    report["unfreed_allocations"] = counts->host.unfreed_allocations;
  }
  // A line of the source may hold bytes that are no UTF-8.
  const std::string text = report.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  if (path.starts_with('&')) return write_descriptor(std::atoi(path.c_str() + 1), text);
  return write_file(path, text);
}

namespace {

std::string counted(std::uint64_t count, const std::string& what) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits + ' ' + what + (count == 1 ? "" : "s");
}

std::string name_of(thread_name thread, const launch_shape& shape) {
  return thread_text(index_of(thread.block, shape.blocks), index_of(thread.rank, shape.threads));
}

// A stale read with its lines.
struct shown_read {
  stale_read first;
  source_line write;
  source_line read;
  std::string lines() const { return place_text(write) + '\n' + place_text(read); }
};

// The first finding of each pair of lines, with the count of all.
std::vector<shown_read> by_lines(const stale_reads& stale) {
  std::vector<place_number> places;
  for (const auto& [where, read] : stale.by_places()) {
    places.insert(places.end(), {place_at(where.first), place_at(where.second)});
  }
  const std::vector<source_line> lines = source_lines(places);
  std::vector<shown_read> all;
  std::size_t next = 0;
  for (const auto& [where, read] : stale.by_places()) {
    shown_read now{read, lines[next], lines[next + 1]};
    next += 2;
    const auto known = std::ranges::find(all, now.lines(), &shown_read::lines);
    if (known == all.end()) {
      all.push_back(std::move(now));
    } else {
      known->first.count += read.count;
    }
  }
  return all;
}

const finding* finding_of(const shown_read& of, const std::vector<finding>& findings) {
  const std::string write = place_text(of.write), read = place_text(of.read);
  const auto found = std::ranges::find_if(findings, [&](const finding& each) {
    if (each.what != mistake::race) return false;
    const std::string first = place_text(each.first.at), second = place_text(each.second.at);
    return (first == write && second == read) || (first == read && second == write);
  });
  return found == findings.end() ? nullptr : &*found;
}

template <class Float, class Bits>
std::string float_text(Bits bits) {
  constexpr double least = 1e-12, most = 1e12;
  const auto value = static_cast<double>(std::bit_cast<Float>(bits));
  if (!(std::abs(value) > least && std::abs(value) < most)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", sizeof(Float) == 4 ? 7 : 15, value);
  return text;
}

// A value of 1 to 8 bytes, whose type is not known, as an integer, or as a floating-point number if
// it may be one.
std::string value_text(std::uint64_t bits, unsigned bytes) {
  // Integers of programs are rarely as large as floating-point numbers are when read as integers.
  if (bytes == 4) {
    const auto word = static_cast<std::uint32_t>(bits);
    const auto value = static_cast<std::int32_t>(word);
    std::string text = value > -(1 << 24) && value < 1 << 24 ? "" : float_text<float>(word);
    return text.empty() ? std::to_string(value) : text;
  }
  if (bytes == 8) {
    const auto value = static_cast<std::int64_t>(bits);
    constexpr std::int64_t most = std::int64_t{1} << 53;
    std::string text = value > -most && value < most ? "" : float_text<double>(bits);
    return text.empty() ? std::to_string(value) : text;
  }
  return std::to_string(bits);
}

std::string text_of(const shown_read& of, const std::vector<finding>& findings) {
  const stale_read& stale = of.first;
  std::string text, reader = name_of(stale.reader, stale.shape),
                    writer = name_of(stale.writer, stale.shape);
  if (const finding* race = finding_of(of, findings)) {
    text = racecheck::text_of(*race);
    if (race->is_between_works()) {
      const bool is_first = writes(race->first.what);
      writer = work_text(*(is_first ? race->first : race->second).work);
      reader = work_text(*(is_first ? race->second : race->first).work);
    }
  } else {
    text = "old value read at " + place_text(of.read) + "\n      " + of.read.text +
           "\n  of what was written at " + place_text(of.write) + "\n      " + of.write.text + '\n';
  }
  text += "  " + reader + " read " + value_text(stale.values.read, stale.values.bytes) +
          ", though " + writer + " had written " +
          value_text(stale.values.newest, stale.values.bytes) + '\n';
  if (stale.count > 1) {
    text += "  " + counted(stale.count, "read") + " got an old value at these lines\n";
  }
  return text;
}

}  // namespace

std::string weak_report(const stale_reads& stale, std::uint64_t older_loads,
                        const std::vector<finding>* findings) {
  std::string older;
  if (older_loads != 0) {
    older = "weak: " + counted(older_loads, "atomic or volatile load") +
            " got an older value, as " + (older_loads == 1 ? "it" : "they") + " may\n";
  }
  if (stale.count() == 0) return older + "weak: no read got an old value";
  std::string text;
  std::set<std::string> lines;
  for (const shown_read& each : by_lines(stale)) {
    if (findings) text += text_of(each, *findings) + '\n';
    lines.insert(place_text(each.read));
  }
  return text + older + "weak: " + counted(stale.count(), "read") + " got an old value, on " +
         counted(lines.size(), "line");
}

void report(const plain_poll& poll, const cpu_backend::kernel_fault& stopped) {
  const source_line read = source_lines({place_at(poll.read)}).front();
  const source_line loop = cpu_backend::line_of(stopped.calls);
  const bool is_in_the_loop = !read.file.empty() && place_text(loop) == place_text(read);
  const bool is_the_loops = poll.reads_again || is_in_the_loop;
  cpu_backend::diagnostic record("plain_poll");
  record.add("block", stopped.block).add("thread", stopped.thread);
  record.add("poll", poll.reads_again ? "reads_again_and_again"
                     : is_in_the_loop ? "loops_without_reading"
                                      : "last_read_was_plain");
  record.add("at", read);
  cpu_backend::write_record(record);
  std::string text = cpu_backend::lines_of({record});
  if (!read.text.empty()) text += "      " + read.text + '\n';
  text += is_the_loops ? "  the loop " : "  if it waits for that value, its loop ";
  text += record.sentence("without_an_atomic") + '\n';
  cpu_backend::write_to_stderr(text);
}

}  // namespace racecheck
