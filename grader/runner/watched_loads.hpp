// SPDX-License-Identifier: MIT
// Has the race checker look at which bytes of global memory a case's launches load, and whose
// stores its results keep, where the program is in its form.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runner/case_file.hpp"

extern "C" {
// Defined by the race checker's library alone; elsewhere their addresses are null.
// engine/racecheck/events/counts.hpp and kept_work.hpp say what they do.
[[gnu::weak]] void racecheck_watch_loads();
[[gnu::weak]] void racecheck_change_other_bytes(const std::uint64_t* but, std::size_t numbers,
                                                std::uint64_t drawn_from);
[[gnu::weak]] void racecheck_add_array(const std::byte* begin, std::size_t bytes, bool is_result);
}

namespace exercises {

inline void add_array(const std::byte* begin, std::size_t bytes, bool is_result) {
  if (racecheck_add_array != nullptr) racecheck_add_array(begin, bytes, is_result);
}

inline void watch_loads(const exercise_case& of) {
  if (of.watches_loads && racecheck_watch_loads != nullptr) racecheck_watch_loads();
  for (const loaded_by_launch& launch : of.loaded) {
    if (racecheck_change_other_bytes == nullptr) break;
    racecheck_change_other_bytes(launch.pieces.data(), launch.pieces.size(), launch.drawn_from);
  }
}

}  // namespace exercises
