// SPDX-License-Identifier: MIT
// A race as a sequence diagram: the threads that take part, what they did, and what orders it or
// would have to. `cudacheck check --picture` draws it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding.hpp"
#include "vector_types.h"

namespace racecheck {

struct drawn_chain {
  struct lane {                      // a thread
    std::vector<std::string> roles;  // "writes", "signals", "observes", "reads", ...
    uint3 block{};
    uint3 thread{};
  };
  struct event {
    std::size_t lane = 0;
    std::string kind;  // "access", "fence", "atomic", "barrier"
    std::string does;  // what the thread did: "writes", "fences at block scope", ...
    source_line location;
  };
  struct arrow {
    // "barrier"; "signal" from a release to an acquire, or between the two atomics if it lacks
    // something; "order" between the two accesses.
    std::string kind;
    std::size_t from = 0, to = 0;       // events
    std::uint32_t updates_between = 0;  // atomics of other threads that handed the signal on
    // Nothing where what is at `from` did happen before what is at `to`; no_synchronisation where
    // nothing at all connects the two.
    diagnosis_set lacks;
  };

  std::vector<lane> lanes;  // in the order of the way from the one access to the other
  // Those of one lane in the order in which its thread did them. What two lanes did is ordered by
  // arrows alone.
  std::vector<event> events;
  std::vector<arrow> arrows;
};

// The lines of a race, whose steps are those of its chain.
struct race_lines {
  source_line first, second;
  std::vector<source_line> steps;
};

// `of` is a race. At least one of the arrows lacks something.
drawn_chain chain_of(const finding& of, const race_lines& lines);

}  // namespace racecheck
