// SPDX-License-Identifier: MIT
// Every function of the runtime API is one of three kinds; each kind treats a dead context in its
// own way and remembers the error that it returns. None works in a child that has no device.
// `function` is the name of the caller, which the runtime's function is.
#pragma once

#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/failing_call.hpp"
#include "cpu_backend/runtime/forked_process.hpp"
#include "cpu_backend/runtime/stream_order.hpp"

namespace cpu_backend {

// Asks nothing of the device: works in a dead context too.
template <class Body>
cudaError_t call_without_device(Body body, const char* function = __builtin_FUNCTION()) {
  form::called(function);
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  return record_error(body());
}

// Uses the device without waiting for it.
template <class Body>
cudaError_t call_without_waiting(Body body, const char* function = __builtin_FUNCTION()) {
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  if (const cudaError_t error = begin_call(function)) return record_error(error);
  if (const cudaError_t error = sticky_error()) return record_error(error);
  return record_error(body());
}

// Waits first, as `wait` does it, and so learns of a kernel that died.
template <class Wait, class Body>
cudaError_t call_that_waits_by(Wait wait, Body body, const char* function = __builtin_FUNCTION()) {
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  if (const cudaError_t error = begin_call(function)) return record_error(error);
  wait();
  if (const cudaError_t error = surface_fault()) {
    form::host_has_waited();  // what is left of the device's work does not come any more
    return record_error(error);
  }
  return record_error(body());
}

// Waits for the whole device first.
template <class Body>
cudaError_t call_that_waits(Body body, const char* function = __builtin_FUNCTION()) {
  return call_that_waits_by(do_held_work, body, function);
}

}  // namespace cpu_backend
