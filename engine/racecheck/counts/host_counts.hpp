// SPDX-License-Identifier: MIT
// What the program's host code has asked of the runtime, in numbers: what an exercise holds a whole
// program to.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "racecheck/memory/shadow.hpp"

namespace racecheck {

struct host_counts {
  // Later calls are not listed: a program with very many of them would fill the report.
  static constexpr std::size_t most_calls = 1000;

  std::vector<std::string> runtime_calls;  // the functions, in the order of their calls
  std::uint64_t number_of_runtime_calls = 0;
  std::uint64_t unfreed_allocations = 0;
};

// Is told of the calls, by any host thread.
class host_call_counter {
 public:
  void called(const char* function);
  // With the allocations of the program that are in `memory` now.
  host_counts counts(shadow_memory& memory) const;

 private:
  mutable std::mutex lock_;
  host_counts so_far_;
};

}  // namespace racecheck
