// SPDX-License-Identifier: MIT
// Launches that were refused: <<<>>> returns nothing, so whoever does not ask never learns of it.
#pragma once

#include "cpu_backend/execution/diagnostic.hpp"
#include "driver_types.h"

namespace cpu_backend {

// The calling host thread's launch was refused; `what` lacks the error's name alone. If it has
// not asked for the error by the end of the program, and the environment variable
// LAB_REPORT_UNASKED says so (the command sets it), that is said on stderr then.
void note_refused_launch(cudaError_t error, const diagnostic& what);

// The calling host thread asks.
void errors_are_asked_for();

}  // namespace cpu_backend
