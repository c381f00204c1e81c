// SPDX-License-Identifier: MIT
// How calls of the runtime and launches begin, and what they answer where they do nothing.
#pragma once

#include <sys/types.h>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/work_order.hpp"
#include "driver_types.h"

namespace cpu_backend {

// What each call of the runtime and each launch has to return first: cudaErrorInitializationError
// in a child that may not use the device, where the first such call also says so on stderr; else
// cudaSuccess. From then on this process counts as one that uses the device.
cudaError_t refused_after_fork();

// fork(), whose child may use the device. Only for a process in which no thread plays it yet.
pid_t fork_with_device();

// A call of the runtime can be made to fail, so that one sees what a program makes of it: on a
// machine where all is well no call ever fails, and a program that checks none looks right.
//
// Every call that asks something of the device begins with this, launches too. Tells the observer;
// returns what the call has to return without doing anything: cudaErrorUnknown if it is the one
// that the variable LAB_FAIL_CALL counts to, from 1, and cudaSuccess otherwise. A value that is no
// such number ends the program with one sentence and status 2. From any host thread.
cudaError_t begin_call(const char* function);

// Every function of the runtime API is one of three kinds; each kind treats a dead context in its
// own way and remembers the error that it returns. None works in a child that has no device.
// `function` is the name of the caller, which the runtime's function is.

// Asks nothing of the device: works in a dead context too.
template <class Body>
cudaError_t call_without_device(Body body, const char* function = __builtin_FUNCTION()) {
  [[maybe_unused]] const observer::runtime_access now;
  form::called(function);
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  return record_error(body());
}

// Uses the device without waiting for it.
template <class Body>
cudaError_t call_without_waiting(Body body, const char* function = __builtin_FUNCTION()) {
  [[maybe_unused]] const observer::runtime_access now;
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  if (const cudaError_t error = begin_call(function)) return record_error(error);
  if (const cudaError_t error = sticky_error()) return record_error(error);
  return record_error(body());
}

// Waits first, as `wait` does it, and so learns of a kernel that died.
template <class Wait, class Body>
cudaError_t call_that_waits_by(Wait wait, Body body, const char* function = __builtin_FUNCTION()) {
  [[maybe_unused]] const observer::runtime_access now;
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  if (const cudaError_t error = begin_call(function)) return record_error(error);
  wait();
  if (const cudaError_t error = surface_fault()) return record_error(error);
  return record_error(body());
}

// Waits for the whole device first.
template <class Body>
cudaError_t call_that_waits(Body body, const char* function = __builtin_FUNCTION()) {
  return call_that_waits_by(work_order::host_waits_for_all, body, function);
}

// Launches that were refused: <<<>>> returns nothing, so a program that does not ask never learns
// of it.
//
// The calling host thread's launch was refused; `what` lacks the error's name alone. If it has
// not asked for the error by the end of the program, and the environment variable
// LAB_REPORT_UNASKED says so (the command sets it), that is said on stderr then.
void note_refused_launch(cudaError_t error, const diagnostic& what);

// The calling host thread asks.
void errors_are_asked_for();

}  // namespace cpu_backend
