// SPDX-License-Identifier: MIT
// Streams. All work is done by the time the call that asks for it returns, so a stream is little
// more than a handle that must be valid. (stream_order.hpp has the exception.)
#include <atomic>

#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/handle_table.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/stream_order.hpp"
#include "cuda_runtime_api.h"

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
        if (exists) do_work_of(stream);
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

created_stream created_stream_of(cudaStream_t stream) {
  created_stream created;
  if (is_default_stream(stream)) return created;
  streams().with(stream, [&](const CUstream_st& it) {
    created = {.number = it.id, .waits_for_default = !(it.flags & cudaStreamNonBlocking)};
  });
  return created;
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
    *stream = streams().create({.flags = flags, .priority = 0, .id = next_id++});
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

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  form::host_has_waited();
  return wait_for(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return is_stream(stream) && is_busy(stream) ? cudaErrorNotReady : wait_for(stream);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (!function) return cudaErrorInvalidValue;
    catch_up(stream);
    if (!faulted()) function(user_data);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    catch_up(stream);
    // Unlike a host function, a callback does run after a kernel's death, and is told of it.
    callback(stream, faulted() ? surface_fault() : cudaSuccess, user_data);
    return cudaSuccess;
  });
}
