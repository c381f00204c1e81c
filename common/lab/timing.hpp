// SPDX-License-Identifier: MIT
// What a series of timed runs amounts to: lab::timing, lab::summarize.
#pragma once

#include "checked_runtime/timing.hpp"

namespace lab {

using namespace checked;

}  // namespace lab
