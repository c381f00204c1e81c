// SPDX-License-Identifier: MIT
// What kernels print, in a run by decisions. Two threads of a launch print in any order, and on a
// GPU it comes out when the host waits: only one thread's output, for which the host has waited,
// is the same in all orders.
#pragma once

namespace racecheck {

// No thread of the launch that begins has printed.
void launch_prints();

}  // namespace racecheck
