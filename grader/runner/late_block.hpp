// SPDX-License-Identifier: MIT
// Has a block begin late, where the program is in the race checker's form: so a driver shows
// whether the blocks wait for more than they need. A student's file can't do that, since it can be
// changed.
#pragma once

extern "C" {
// Defined by the race checker's library alone; elsewhere its address is null.
// engine/cpu_backend/scheduled/include/cpu_backend/scheduled.hpp says what it does.
[[gnu::weak]] void racecheck_delay_last_block(const unsigned* until, unsigned at_most);
}

namespace exercises {

// In the next launch the last block begins when the word `*until` is at least that block's number,
// or at least `at_most`.
inline void delay_last_block(const unsigned* until, unsigned at_most) {
  if (racecheck_delay_last_block != nullptr) racecheck_delay_last_block(until, at_most);
}

}  // namespace exercises
