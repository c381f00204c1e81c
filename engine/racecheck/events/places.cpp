// SPDX-License-Identifier: MIT
#include "racecheck/events/places.hpp"

#include <map>
#include <tuple>
#include <utility>

#include "racecheck/events/program_symbols.hpp"

extern "C" {
extern const char __executable_start;  // the linker's name for the begin of the program
}

namespace racecheck {

using cpu_backend::make_source_line;

namespace {

constexpr place_number of_call = 1u << 31;

std::uint64_t offset_in_program(const void* address) {
  return static_cast<std::uint64_t>(static_cast<const char*>(address) - &__executable_start);
}

struct call_places {
  std::map<std::tuple<const char*, unsigned>, place_number> numbers;
  std::vector<cpu_backend::place> all;
};
call_places& calls() {
  static call_places& known = *new call_places;
  return known;
}

}  // namespace

place_number place_of(const void* return_address) {
  return static_cast<place_number>(static_cast<const char*>(return_address) - &__executable_start) -
         1;
}

place_number place_of(const cpu_backend::place& at) {
  call_places& known = calls();
  const auto [entry, is_new] =
      known.numbers.try_emplace({at.file(), at.line()}, of_call | known.all.size());
  if (is_new) known.all.push_back(at);
  return entry->second;
}

const void* instruction_at(place_number place) {
  return place & of_call ? nullptr : &__executable_start + place + 1;
}

std::vector<source_line> source_lines(const std::vector<place_number>& places) {
  // A report is made more than once, and asks for the same lines: a program is started for each
  // question.
  static auto& known = *new std::map<std::uint64_t, cpu_backend::inlined_calls>;
  std::vector<std::uint64_t> unknown;
  for (const place_number each : places) {
    if (!(each & of_call) && !known.contains(each)) unknown.push_back(each);
  }
  known.merge(cpu_backend::ask_compiler(unknown));
  std::vector<source_line> lines;
  for (const place_number each : places) {
    if (each & of_call) {
      const cpu_backend::place& at = calls().all[each & ~of_call];
      lines.push_back(make_source_line(at.file(), at.line()));
      continue;
    }
    source_line found;
    if (const auto calls = known.find(each); calls != known.end()) {
      for (const auto& [file, line] : calls->second) {
        if (!cpu_backend::belongs_to_student(file) || line == 0) continue;
        found = make_source_line(file, line);
        break;
      }
    }
    lines.push_back(found);
  }
  return lines;
}

variable_name find_variable(const void* address) {
  const std::uint64_t offset = offset_in_program(address);
  program_symbol found = symbol_at(offset, symbol_kind::variable);
  if (found.name.empty()) return {};
  return {std::move(found.name), offset - found.begin, found.bytes};
}

std::string find_function(const void* address) {
  return symbol_at(offset_in_program(address), symbol_kind::function).name;
}

}  // namespace racecheck
