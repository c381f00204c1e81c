// SPDX-License-Identifier: MIT
// A call of the runtime that is made to fail, so that one sees what a program makes of it: on a
// machine where all is well no call ever fails, and a program that checks none looks right.
#pragma once

#include "driver_types.h"

namespace cpu_backend {

// Every call that asks something of the device begins with this, launches too. Tells the observer;
// returns what the call has to return without doing anything: cudaErrorUnknown if it is the one
// that the variable LAB_FAIL_CALL counts to, from 1, and cudaSuccess otherwise. A value that is no
// such number ends the program with one sentence and status 2. From any host thread.
cudaError_t begin_call(const char* function);

}  // namespace cpu_backend
