// SPDX-License-Identifier: MIT
// Events: since streams are synchronous, an event has happened as soon as it is recorded.
#include <chrono>
#include <cstdint>
#include <optional>

#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/handle_table.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/stream_order.hpp"
#include "cuda_runtime_api.h"

struct CUevent_st {
  using clock = std::chrono::steady_clock;
  unsigned int flags = cudaEventDefault;
  std::optional<clock::time_point> recorded;
  cpu_backend::stream_position position;  // of what it waits for
  std::uint64_t work = 0;                 // how much the device had got when it was recorded

  bool has_time() const { return recorded && !(flags & cudaEventDisableTiming); }
};

namespace cpu_backend {
namespace {

handle_table<CUevent_st>& events() {
  // Never destroyed: a program's own static objects may destroy events after main().
  static handle_table<CUevent_st>& table = *new handle_table<CUevent_st>;
  return table;
}

// For a handle that is no event, of nothing.
stream_position position_of(cudaEvent_t event) {
  stream_position position;
  events().with(event, [&](const CUevent_st& it) { position = it.position; });
  return position;
}

cudaError_t wait_for(cudaEvent_t event, const char* function = __builtin_FUNCTION()) {
  return call_that_waits_by(
      [&] { do_work_to(position_of(event)); },
      [&] { return events().contains(event) ? cudaSuccess : cudaErrorInvalidResourceHandle; },
      function);
}

}  // namespace

void destroy_all_events() { events().destroy_all(); }

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call_without_waiting([&] {
    constexpr unsigned int known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    const bool timed_between_processes =
        (flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming);
    if (!event || (flags & ~known) || timed_between_processes) return cudaErrorInvalidValue;
    *event = events().create({.flags = flags, .recorded = std::nullopt, .position = {}, .work = 0});
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call_without_waiting([&] {
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    const auto now = CUevent_st::clock::now();
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const bool exists = events().with(event, [&](CUevent_st& it) {
      it.recorded = now;
      it.position = position_of(stream);
      it.work = form::work_so_far();
    });
    return exists ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return is_busy(position_of(event)) ? cudaErrorNotReady : wait_for(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  events().with(event, [](const CUevent_st& it) {
    if (it.recorded && it.work == form::work_so_far()) form::host_has_waited();
  });
  return wait_for(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call_without_waiting(
      [&] { return events().destroy(event) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call_that_waits_by(
      [&] {
        do_work_to(position_of(start));
        do_work_to(position_of(end));
      },
      [&] {
        if (!milliseconds) return cudaErrorInvalidValue;
        CUevent_st first;
        CUevent_st last;
        events().with(start, [&](const CUevent_st& it) { first = it; });
        events().with(end, [&](const CUevent_st& it) { last = it; });
        // Holds for handles that are no events as well: those leave an event that was never
        // recorded.
        if (!first.has_time() || !last.has_time()) return cudaErrorInvalidResourceHandle;
        if (last.work == form::work_so_far()) form::host_asks_for_time();
        const std::chrono::duration<float, std::milli> passed = *last.recorded - *first.recorded;
        *milliseconds = form::hides_times() ? 0 : passed.count();
        return cudaSuccess;
      });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call_without_waiting([&] {
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    stream_position position;
    const bool exists = events().with(event, [&](const CUevent_st& it) { position = it.position; });
    if (!is_stream(stream) || !exists) return cudaErrorInvalidResourceHandle;
    wait_for_position(stream, position);
    return cudaSuccess;
  });
}
