// SPDX-License-Identifier: MIT
// What a kernel does to memory that is no race, and wrong whoever comes first: it writes constant
// memory, uses another thread's local variable, an atomic on its own one, or reads through the
// read-only cache what the same launch writes.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/memory/access_history.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/races/finding.hpp"
#include "racecheck/races/finding_collection.hpp"

namespace racecheck {

class misuse_check {
 public:
  misuse_check(const launch_clocks& clocks, shadow_memory& memory, const access_history& history,
               finding_collection& findings)
      : clocks_(clocks), memory_(memory), history_(history), findings_(findings) {}

  // An access to memory in `in`.
  void check_variable(const thread_state& by, const region& in, const std::byte* address,
                      std::size_t bytes, place_number place, operation what);
  // An access to memory in no region. Returns whether it is a mistake.
  bool check_local(const thread_state& by, const std::byte* address, place_number place,
                   operation what);
  // By __ldg().
  void note_read_only_load(const thread_state& by, const std::byte* address, std::size_t bytes,
                           place_number place);
  // By a parameter of the type const T* __restrict__.
  void note_read_only_parameter(const std::byte* pointer, const char* name);
  // The launch is over: which of these have been written?
  void end_launch();

 private:
  struct read_only_load {
    thread_name by;
    place_number place = 0;
  };
  static constexpr std::size_t most_loads = std::size_t{1} << 20;

  struct parameter {
    region* in = nullptr;
    const char* name = "";
  };
  void check_parameter(const parameter& of);
  cell_record one_reader(const cell& of) const;

  const launch_clocks& clocks_;
  shadow_memory& memory_;
  const access_history& history_;
  finding_collection& findings_;
  std::unordered_map<const std::byte*, read_only_load> loads_;  // the first of each cell
  std::vector<parameter> parameters_;
};

}  // namespace racecheck
