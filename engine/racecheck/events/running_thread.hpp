// SPDX-License-Identifier: MIT
// The CUDA thread that runs on the calling OS thread; nullptr on a host thread, and while the
// backend works between threads.
#pragma once

#include "racecheck/order/thread_state.hpp"

namespace racecheck {

extern constinit __thread thread_state* running_thread;

}  // namespace racecheck
