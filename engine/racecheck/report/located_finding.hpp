// SPDX-License-Identifier: MIT
// The record of a finding: with its places as lines of the source, the schedules that show it, and
// the chain that is drawn of it. The JSON file has all of it (finding_json.hpp), and all text is
// made from it (finding_text.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "racecheck/events/places.hpp"
#include "racecheck/races/finding.hpp"
#include "vector_types.h"

namespace racecheck {

// A race as a sequence diagram: the threads that take part, what they did, and what orders it or
// would have to. `cudacheck check --picture` draws it.
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

struct located_finding {
  racecheck::finding finding;  // read from a JSON file, it has no place numbers and no steps
  source_line first;
  source_line second;
  source_line releaser;
  source_line acquirer;
  source_line older_load;
  source_line cause;
  drawn_chain chain;  // of a race
  // Threads of different blocks race at these lines, too, and nothing orders them.
  bool also_between_blocks = false;
  std::uint64_t seed = 0;         // of the schedule that has this very pair of accesses
  std::set<std::uint64_t> seeds;  // of all that have a finding of this diagnosis at these lines
};

// One diagnosis of one element, at one pair of lines or several.
struct element_findings {
  located_finding shown;
  std::vector<located_finding> lesser;  // at the shown lines, and lacking only a part of it
  std::vector<std::pair<source_line, source_line>> other_lines;
  std::uint64_t count = 0;        // of all
  std::set<std::uint64_t> seeds;  // of all
};

}  // namespace racecheck
