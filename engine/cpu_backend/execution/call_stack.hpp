// SPDX-License-Identifier: MIT
// Where a thread was: the instruction, and the calls that led to it.
#pragma once

#include <array>
#include <vector>

#include "cpu_backend/execution/source_line.hpp"

namespace cpu_backend {

struct call_stack {
  static constexpr unsigned most = 24;

  // Innermost first. All but an interrupted instruction are return addresses.
  std::array<const void*, most> instructions{};
  unsigned count = 0;
  bool was_interrupted = false;  // the first is an instruction that was interrupted

  // Of the caller.
  static call_stack here();
  // In a handler of a signal, with its third parameter: of what the signal interrupted.
  static call_stack interrupted(const void* signal_context);
};

// The line of the student's that is nearest to the end of the calls; none known: no file. Lines of
// the course's own library are taken only where there is no other.
source_line line_of(const call_stack& calls);

}  // namespace cpu_backend
