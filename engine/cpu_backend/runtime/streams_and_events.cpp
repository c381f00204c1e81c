// SPDX-License-Identifier: MIT
// Streams and events: handles that must be valid. What waits for what: runtime/work_order.hpp.
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/work_queue.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {

template <class Object>
class handle_table {
 public:
  Object* create(Object object) {
    auto owned = std::make_unique<Object>(std::move(object));
    Object* const handle = owned.get();
    const std::lock_guard guard(lock_);
    objects_.emplace(handle, std::move(owned));
    return handle;
  }

  bool destroy(Object* handle) {
    const std::lock_guard guard(lock_);
    return objects_.erase(handle) != 0;
  }

  void destroy_all() {
    const std::lock_guard guard(lock_);
    objects_.clear();
  }

  bool contains(Object* handle) {
    const std::lock_guard guard(lock_);
    return objects_.contains(handle);
  }

  // Calls `use` with the object, which no other thread destroys or uses meanwhile. Returns false,
  // and does not call it, where there is none.
  template <class Use>
  bool with(Object* handle, Use use) {
    const std::lock_guard guard(lock_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return false;
    use(*found->second);
    return true;
  }

 private:
  std::mutex lock_;
  std::map<Object*, std::unique_ptr<Object>> objects_;
};

}  // namespace cpu_backend

struct CUstream_st {
  unsigned int flags = cudaStreamDefault;
  int priority = 0;
  unsigned long long id = 0;
};

namespace cpu_backend {
namespace {

handle_table<CUstream_st>& streams() {
  // Never destroyed: a program's own static objects may destroy streams after main().
  static handle_table<CUstream_st>& table = *new handle_table<CUstream_st>;
  return table;
}

bool is_default_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

// Calls `use` with what `stream` is, the default streams included.
template <class Use>
cudaError_t with_stream(cudaStream_t stream, Use use) {
  if (is_default_stream(stream)) {
    CUstream_st itself;
    itself.id = stream == cudaStreamPerThread ? 2 : 1;
    use(itself);
    return cudaSuccess;
  }
  return streams().with(stream, use) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t wait_for(cudaStream_t stream, const char* function = __builtin_FUNCTION()) {
  const bool exists = is_stream(stream);
  return call_that_waits_by(
      [&] {
        if (exists) work_order::host_waits_for(work_order::position_of(stream));
      },
      [&] { return exists ? cudaSuccess : cudaErrorInvalidResourceHandle; }, function);
}

}  // namespace

bool is_stream(cudaStream_t stream) {
  form::used("stream", stream == cudaStreamPerThread ? "per_thread"
                       : is_default_stream(stream)   ? "default"
                                                     : "created");
  return is_default_stream(stream) || streams().contains(stream);
}

unsigned long long stream_id(cudaStream_t stream) {
  unsigned long long id = 0;
  (void)with_stream(stream, [&](const CUstream_st& it) { id = it.id; });
  return id;
}

void destroy_all_streams() { streams().destroy_all(); }

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return call_without_waiting([&] {
    if (!stream || (flags & ~static_cast<unsigned int>(cudaStreamNonBlocking))) {
      return cudaErrorInvalidValue;
    }
    // The device has one priority, so any other is clamped to it, as CUDA does.
    static std::atomic<unsigned long long> next_id = 3;
    const unsigned long long id = next_id++;
    *stream = streams().create({.flags = flags, .priority = 0, .id = id});
    work_order::stream_is_made(id, !(flags & cudaStreamNonBlocking));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call_without_waiting([&] {
    if (!priority) return cudaErrorInvalidValue;
    return with_stream(stream, [&](const CUstream_st& it) { *priority = it.priority; });
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return call_without_waiting([&] {
    if (!flags) return cudaErrorInvalidValue;
    return with_stream(stream, [&](const CUstream_st& it) { *flags = it.flags; });
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call_without_waiting([&] {
    if (!id) return cudaErrorInvalidValue;
    return with_stream(stream, [&](const CUstream_st& it) { *id = it.id; });
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return call_without_waiting([&] {
    if (!device) return cudaErrorInvalidValue;
    return with_stream(stream, [&](const CUstream_st&) { *device = 0; });
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call_without_waiting(
      [&] { return streams().destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return wait_for(stream); }

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  form::called(__func__);
  const bool is_busy = is_stream(stream) && !work_order::is_done(work_order::position_of(stream));
  return is_busy ? cudaErrorNotReady : wait_for(stream);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (!function) return cudaErrorInvalidValue;
    work_queue::give(stream, work_kind::callback, [function, user_data](const work& given) {
      const work_order::callback now(given);
      if (!faulted()) function(user_data);
    });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    const auto run = [=](const work& given) {
      const work_order::callback now(given);
      callback(stream, faulted() ? surface_fault() : cudaSuccess, user_data);
    };
    // Unlike a host function, a callback does run after a kernel's death, and is told of it.
    work_queue::give(stream, work_kind::callback, run, true);
    return cudaSuccess;
  });
}

struct CUevent_st {
  using clock = std::chrono::steady_clock;
  unsigned int flags = cudaEventDefault;
  std::optional<clock::time_point> recorded;
  cpu_backend::work_clock after;  // what it waits for, as CUDA orders it

  bool has_time() const { return recorded && !(flags & cudaEventDisableTiming); }
};

namespace cpu_backend {
namespace {

handle_table<CUevent_st>& events() {
  // Never destroyed: a program's own static objects may destroy events after main().
  static handle_table<CUevent_st>& table = *new handle_table<CUevent_st>;
  return table;
}

// What it waits for; of a handle that is no event, nothing.
work_clock position_of(cudaEvent_t event) {
  work_clock after;
  events().with(event, [&](const CUevent_st& it) { after = it.after; });
  return after;
}

cudaError_t wait_for(cudaEvent_t event, const char* function = __builtin_FUNCTION()) {
  return call_that_waits_by(
      [&] { work_order::host_waits_for(position_of(event)); },
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
    *event = events().create({.flags = flags, .recorded = std::nullopt, .after = {}});
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
      it.after = work_order::record(stream);
    });
    return exists ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  form::called(__func__);
  return work_order::is_done(position_of(event)) ? wait_for(event) : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return wait_for(event); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call_without_waiting(
      [&] { return events().destroy(event) ? cudaSuccess : cudaErrorInvalidResourceHandle; });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call_that_waits_by(
      [&] {
        const work_clock at_end = position_of(end);
        if (!work_order::host_knows(at_end)) form::used("host", "early_time");
        work_order::host_waits_for(position_of(start));
        work_order::host_waits_for(at_end);
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
        const std::chrono::duration<float, std::milli> passed = *last.recorded - *first.recorded;
        *milliseconds = form::hides_times() ? 0 : passed.count();
        return cudaSuccess;
      });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call_without_waiting([&] {
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    if (!is_stream(stream) || !events().contains(event)) return cudaErrorInvalidResourceHandle;
    work_order::stream_waits(stream, position_of(event));
    return cudaSuccess;
  });
}
