// SPDX-License-Identifier: MIT
// Timing of device work by CUDA events: lab::time_runs, lab::stopwatch.
#pragma once

#include "checked_runtime/timing.cuh"

namespace lab {

using namespace checked;

}  // namespace lab
