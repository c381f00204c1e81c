// SPDX-License-Identifier: MIT
#include "racecheck/races/functions_in_streams.hpp"

#include <algorithm>

#include "cpu_backend/scheduled.hpp"

namespace racecheck {

void functions_in_streams::access(const host_access& what) {
  const bool is_function = cpu_backend::work_order::is_in_callback();
  if (!is_function && uses_.empty()) return;
  // Its own variables: on a GPU's host it has a thread, and a stack, of its own.
  if (is_function && cpu_backend::work_order::is_on_stack_of_callback(what.address)) return;
  const cpu_backend::work by = cpu_backend::work_order::host();
  constexpr std::uintptr_t bytes = 4;
  const auto begin = reinterpret_cast<std::uintptr_t>(what.address);
  for (std::uintptr_t at = begin / bytes; at <= (begin + what.bytes - 1) / bytes; ++at) {
    if (!is_function && !uses_.contains(at)) continue;
    auto& uses = uses_[at];
    const bool conflicts = std::ranges::any_of(uses, [&](const use& other) {
      return (other.writes || what.writes) && other.by != by.is && !by.after.covers(other.by);
    });
    if (conflicts) cpu_backend::scheduled::used("host", "function_in_stream", what.from);
    if (is_function) uses.push_back({by.is, what.writes});
  }
}

}  // namespace racecheck
