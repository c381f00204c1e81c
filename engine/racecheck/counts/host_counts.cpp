// SPDX-License-Identifier: MIT
#include "racecheck/counts/host_counts.hpp"

namespace racecheck {

void host_call_counter::called(const char* function) {
  const std::lock_guard guard(lock_);
  if (so_far_.runtime_calls.size() < host_counts::most_calls) {
    so_far_.runtime_calls.emplace_back(function);
  }
  ++so_far_.number_of_runtime_calls;
}

host_counts host_call_counter::counts(shadow_memory& memory) const {
  const std::lock_guard guard(lock_);
  host_counts counts = so_far_;
  memory.each_region([&](const region& each) {
    counts.unfreed_allocations += each.what != region::kind::variable;
  });
  return counts;
}

}  // namespace racecheck
