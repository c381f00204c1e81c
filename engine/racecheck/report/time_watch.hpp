// SPDX-License-Identifier: MIT
// Ends the program when its time is over, or when it is asked to end by SIGTERM.
#pragma once

namespace racecheck {

// Why the program ends before its end.
enum class ended_by { time, signal };

// To be called once, before main(). `report` is called on a thread of its own, when the checker is
// not in the middle of anything, and must end the process.
void watch_time(void (*report)(ended_by why));

// In seconds; 0 for none. From LAB_RACECHECK_SECONDS; a wrong one ends the program with status 2.
unsigned seconds_of_program();

}  // namespace racecheck
