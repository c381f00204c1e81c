// SPDX-License-Identifier: MIT
// Ends the program when its time is over, and lets it report before a signal ends it.
#pragma once

namespace racecheck {

// To be called once, before main(). `report` is called on a thread of its own, when the checker is
// not in the middle of anything: with 0 when the time is over, and then it must end the process; or
// with the signal, which ends the process when it returns.
void watch_end(void (*report)(int signal));

// To be called by the thread that makes the last report, on whatever way it came to that: it is let
// finish, unless it is itself what ends the program.
void note_reporter();

// "SIGABRT"; of those signals that `report` is called with.
const char* name_of_signal(int signal);

// In seconds; 0 for none. From LAB_RACECHECK_SECONDS; a wrong one ends the program with status 2.
unsigned seconds_of_program();

}  // namespace racecheck
