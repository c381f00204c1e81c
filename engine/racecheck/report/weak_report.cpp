// SPDX-License-Identifier: MIT
#include "racecheck/report/weak_report.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>

#include "racecheck/events/sites.hpp"
#include "racecheck/report/finding_text.hpp"

namespace racecheck {
namespace {

std::string counted(std::uint64_t count, const std::string& what) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits + ' ' + what + (count == 1 ? "" : "s");
}

uint3 index_of(std::uint64_t number, const dim3& size) {
  const auto part = [](std::uint64_t value) { return static_cast<unsigned>(value); };
  return {part(number % size.x), part(number / size.x % size.y), part(number / size.x / size.y)};
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

// Of each pair of lines the first one, with the count of all.
std::vector<shown_read> by_lines(const stale_reads& stale) {
  std::vector<place_number> places;
  for (const auto& [sites, read] : stale.by_sites()) {
    places.insert(places.end(), {place_of_site(sites.first), place_of_site(sites.second)});
  }
  const std::vector<source_line> lines = source_lines(places);
  std::vector<shown_read> all;
  std::size_t next = 0;
  for (const auto& [sites, read] : stale.by_sites()) {
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

const located_finding* finding_of(const shown_read& of,
                                  const std::vector<located_finding>& findings) {
  const std::string write = place_text(of.write), read = place_text(of.read);
  const auto found = std::ranges::find_if(findings, [&](const located_finding& each) {
    if (each.finding.what != mistake::race) return false;
    const std::string first = place_text(each.first), second = place_text(each.second);
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

// Of a value of 1 to 8 bytes, whose type is not known: as an integer, or as a floating-point number
// where it looks like one.
std::string value_text(std::uint64_t bits, unsigned bytes) {
  // Integers of programs are rarely as large as floating-point numbers look when read as integers.
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

std::string text_of(const shown_read& of, const std::vector<located_finding>& findings) {
  const stale_read& stale = of.first;
  std::string text;
  if (const located_finding* race = finding_of(of, findings)) {
    text = racecheck::text_of(*race);
  } else {
    text = "old value read at " + place_text(of.read) + "\n      " + of.read.text +
           "\n  of what was written at " + place_text(of.write) + "\n      " + of.write.text + '\n';
  }
  text += "  " + name_of(stale.reader, stale.shape) + " read " +
          value_text(stale.values.read, stale.values.bytes) + ", though " +
          name_of(stale.writer, stale.shape) + " had written " +
          value_text(stale.values.newest, stale.values.bytes) + '\n';
  if (stale.count > 1) {
    text += "  " + counted(stale.count, "read") + " got an old value at these lines\n";
  }
  return text;
}

}  // namespace

std::string weak_report(const stale_reads& stale, std::uint64_t older_loads,
                        const std::vector<located_finding>* findings) {
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

}  // namespace racecheck
