// SPDX-License-Identifier: MIT
// Many runs of one program that are the same until its first launch: up to there it runs once, and
// then a child goes on for each.
//   LAB_PROVE_RUNS=ASKED,ANSWERED  two descriptors. At its first launch the process writes a line
//                                  to ANSWERED. For each byte that it reads from ASKED it makes a
//                                  child that runs to the program's end, and writes to ANSWERED how
//                                  that ended: the exit status, or less a signal's number. At the
//                                  end of ASKED it ends. A process whose first launch no child can
//                                  take over runs to its own end, and writes nothing.
#pragma once

namespace cpu_backend {

// To be called by the thread that launches, before anything of its first launch happens. Returns in
// the children, and where there is nothing to fork.
void fork_runs();

}  // namespace cpu_backend
