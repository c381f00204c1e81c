// SPDX-License-Identifier: MIT
// Many runs of one program by one process, which makes a child for each.
//   LAB_RUNS=N            N is a socket (SOCK_SEQPACKET). Before anything of the program's own has
//                         run, the process writes "ready" to it, and then serves it.
//   LAB_RUNS_AT_LAUNCH=N  the same at its first launch: up to there the runs are one. A process
//                         whose first launch no child can take over runs to its own end, and writes
//                         nothing.
// Each message asks for a run. It has NAME=value with a zero byte after each, which come into the
// child's environment, or with a number N in a name's place are its N-th argument, and three
// descriptors: the child's standard input, its output, and a socket, to which the process writes
// the child's number and, when it has ended, the exit status, or less a signal's number, a line
// each. If the other end is shut down before, the run is killed. All that a run has started ends
// with it. At the end of N the process kills what runs, and ends.
#pragma once

namespace cpu_backend {

// To be called by the thread that launches, before anything of its first launch happens. Returns in
// the children, and where there is nothing to fork.
void fork_runs_at_launch();

}  // namespace cpu_backend
