// SPDX-License-Identifier: MIT
// Lines of the student's source, for what is said about an instruction of the program, and the
// calls that led to it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cpu_backend {

struct source_line {
  std::string file;  // as seen from the current directory, if it is below it; empty if unknown
  unsigned line = 0;
  std::string text;  // of the line, without the space around it; empty where it can't be read
};

// A line that the compiler names so.
source_line make_source_line(const std::string& file, unsigned line);

// The running program's file.
std::string program_path();

// What the compiler knows about the instructions at these offsets in the program, of which it asks
// addr2line: the file and line of each inlined call there, the innermost first.
using inlined_calls = std::vector<std::pair<std::string, unsigned>>;
std::map<std::uint64_t, inlined_calls> ask_compiler(const std::vector<std::uint64_t>& offsets);
// Why ask_compiler() knew nothing about any instruction; empty if it did.
const std::string& why_lines_are_missing();

// Whether a reader knows the file: none of the backend's or of the system's.
bool belongs_to_student(const std::string& file);

// Where a thread was: the instruction, and the calls that led to it.

struct call_stack {
  static constexpr unsigned most = 24;

  // Innermost first. All but an interrupted instruction are return addresses.
  std::array<const void*, most> instructions{};
  unsigned count = 0;
  bool was_interrupted = false;  // the first is an instruction that was interrupted

  // The calls that lead to the caller.
  static call_stack here();
  // In a handler of a signal, with its third parameter: of what the signal interrupted.
  static call_stack interrupted(const void* signal_context);
};

// The line of the student's that is nearest to the end of the calls; none known: no file. Lines of
// the course's own library are taken only where there is no other.
source_line line_of(const call_stack& calls);

}  // namespace cpu_backend
