// SPDX-License-Identifier: MIT
// Copies and fills. What the pointers are is looked at first: a host pointer instead of a device
// pointer would work here and fail on a GPU.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/allocations.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/work_queue.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

// Memory that the runtime does not know, and pinned memory, is the host's.
std::optional<memory_kind> kind_on_device(const void* pointer) {
  const auto record = allocations().find(pointer);
  if (!record || !record->holds(pointer) || record->block.kind == memory_kind::pinned) return {};
  return record->block.kind;
}

bool is_pageable(const void* pointer) { return !allocations().find(pointer); }

// `may_read_later`: after the call that has given the copy has returned.
void move_bytes(const work& given, void* destination, const void* source, std::size_t bytes,
                bool may_read_later) {
  const auto to = kind_on_device(destination), from = kind_on_device(source);
  [[maybe_unused]] const observer::runtime_access now;
  observer::memory_written(given, destination, bytes);
  if (may_read_later || !is_pageable(source)) observer::memory_read(given, source, bytes);
  const auto to_address = reinterpret_cast<std::uintptr_t>(destination);
  const auto from_address = reinterpret_cast<std::uintptr_t>(source);
  if (to_address - from_address < bytes || from_address - to_address < bytes) {
    form::used("memory", "overlap");
  }
  std::memmove(destination, source, bytes);
  if (to && !from) observer::bytes_of_host_arrive(destination, bytes);
  if (from && !to) observer::bytes_come_to_host(destination, source, bytes);
}

void fill_bytes(const work& given, void* destination, int value, std::size_t bytes) {
  [[maybe_unused]] const observer::runtime_access now;
  observer::memory_written(given, destination, bytes);
  std::memset(destination, value, bytes);
}

enum class side { host, device, either };

// May `bytes` at `pointer` stand where `expected` memory does? Device code reaches pinned and
// managed memory too, and the host does; memory that the runtime does not know can only be the
// host's.
cudaError_t check_range(const void* pointer, std::size_t bytes, side expected) {
  if (bytes == 0) return cudaSuccess;
  if (!pointer) return cudaErrorInvalidValue;
  const auto record = allocations().find(pointer);
  if (!record) return expected == side::device ? cudaErrorInvalidValue : cudaSuccess;
  if (!record->holds(pointer)) return cudaErrorInvalidValue;
  const bool device_only =
      record->block.kind == memory_kind::device || record->block.kind == memory_kind::symbol;
  if (expected == side::host && device_only) return cudaErrorInvalidValue;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) -
                                               static_cast<const std::byte*>(record->block.begin));
  return bytes <= record->block.bytes - offset ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t check_copy(const void* destination, std::size_t destination_bytes, const void* source,
                       std::size_t source_bytes, cudaMemcpyKind kind) {
  side to = side::either;
  side from = side::either;
  switch (kind) {
    case cudaMemcpyHostToHost:
      to = from = side::host;
      break;
    case cudaMemcpyHostToDevice:
      from = side::host;
      to = side::device;
      break;
    case cudaMemcpyDeviceToHost:
      from = side::device;
      to = side::host;
      break;
    case cudaMemcpyDeviceToDevice:
      to = from = side::device;
      break;
    case cudaMemcpyDefault:
      break;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
  if (const cudaError_t error = check_range(destination, destination_bytes, to)) return error;
  return check_range(source, source_bytes, from);
}

// The stream in which a copy or a fill is, and whether the call is one that blocks.
struct place_in_order {
  cudaStream_t stream = nullptr;
  bool blocks = true;
};

// Whether the host goes on only when the copy is done. What it has copied from pageable memory is
// only sure to have been taken out of there. (Runtime API, "API synchronization behavior".)
bool host_waits(const void* destination, const void* source, const place_in_order& in) {
  const bool to_host = !kind_on_device(destination), from_host = !kind_on_device(source);
  if (to_host && (from_host || is_pageable(destination))) return true;
  return in.blocks && (to_host || (from_host && !is_pageable(source)));
}

// Whether it waits for what is in the stream before it takes from pageable memory.
bool host_waits_before(const void* source, const place_in_order& in) {
  return in.blocks && !kind_on_device(source) && is_pageable(source);
}

// Does a copy by move(const work&), which moves its bytes and keeps what it needs.
template <class Move>
void copy_in_order(const void* destination, const void* source, const place_in_order& in,
                   Move move) {
  if (host_waits_before(source, in)) {
    work_order::host_waits_for(work_order::position_of(in.stream));
  }
  const work given = work_queue::give(in.stream, work_kind::copy, move);
  if (host_waits_before(source, in)) {
    work_clock taken = given.after;
    taken.reach(given.is);
    work_queue::finish(taken);
  }
  if (host_waits(destination, source, in)) work_order::host_waits_for(given);
}

cudaError_t copy(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                 const place_in_order& in) {
  if (const cudaError_t error = check_copy(destination, bytes, source, bytes, kind)) return error;
  // After a kernel's death what follows it in the stream does not run.
  if (bytes == 0 || faulted()) return cudaSuccess;
  copy_in_order(destination, source, in, [=](const work& given) {
    move_bytes(given, destination, source, bytes, !in.blocks);
  });
  return cudaSuccess;
}

// Bytes from the first row's begin to the last row's end, or nothing that fits a size.
bool extent_2d(std::size_t pitch, std::size_t width, std::size_t height, std::size_t& bytes) {
  return !__builtin_mul_overflow(height - 1, pitch, &bytes) &&
         !__builtin_add_overflow(bytes, width, &bytes);
}

cudaError_t copy_2d(void* destination, std::size_t destination_pitch, const void* source,
                    std::size_t source_pitch, std::size_t width, std::size_t height,
                    cudaMemcpyKind kind, const place_in_order& in) {
  if (width > destination_pitch || width > source_pitch) return cudaErrorInvalidPitchValue;
  std::size_t destination_bytes = 0;
  std::size_t source_bytes = 0;
  if (width != 0 && height != 0 &&
      (!extent_2d(destination_pitch, width, height, destination_bytes) ||
       !extent_2d(source_pitch, width, height, source_bytes))) {
    return cudaErrorInvalidValue;
  }
  if (const cudaError_t error =
          check_copy(destination, destination_bytes, source, source_bytes, kind)) {
    return error;
  }
  if (width == 0 || height == 0 || faulted()) return cudaSuccess;
  copy_in_order(destination, source, in, [=](const work& given) {
    for (std::size_t row = 0; row < height; ++row) {
      move_bytes(given, static_cast<std::byte*>(destination) + row * destination_pitch,
                 static_cast<const std::byte*>(source) + row * source_pitch, width, !in.blocks);
    }
  });
  return cudaSuccess;
}

// Does a fill as copy_in_order(). The host waits for one of pinned or managed memory, if the call
// is one that blocks.
template <class Fill>
void fill_in_order(const void* pointer, const place_in_order& in, Fill fill) {
  const work given = work_queue::give(in.stream, work_kind::fill, fill);
  const auto kind = kind_on_device(pointer);
  if (in.blocks && (!kind || *kind == memory_kind::managed)) work_order::host_waits_for(given);
}

cudaError_t fill(void* pointer, int value, std::size_t bytes, const place_in_order& in) {
  if (const cudaError_t error = check_range(pointer, bytes, side::device)) return error;
  if (bytes == 0 || faulted()) return cudaSuccess;
  fill_in_order(pointer, in, [=](const work& given) { fill_bytes(given, pointer, value, bytes); });
  return cudaSuccess;
}

cudaError_t fill_2d(void* pointer, std::size_t pitch, int value, std::size_t width,
                    std::size_t height, const place_in_order& in) {
  if (width == 0 || height == 0) return cudaSuccess;
  std::size_t bytes = 0;
  if (width > pitch || !extent_2d(pitch, width, height, bytes)) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_range(pointer, bytes, side::device)) return error;
  if (faulted()) return cudaSuccess;
  fill_in_order(pointer, in, [=](const work& given) {
    for (std::size_t row = 0; row < height; ++row) {
      fill_bytes(given, static_cast<std::byte*>(pointer) + row * pitch, value, width);
    }
  });
  return cudaSuccess;
}

// nullptr where it is not within the variable.
std::byte* address_of(const part_of_symbol& part) {
  if (part.offset > part.symbol_bytes || part.bytes > part.symbol_bytes - part.offset) {
    return nullptr;
  }
  register_symbol(part.symbol, part.symbol_bytes);
  return static_cast<std::byte*>(const_cast<void*>(part.symbol)) + part.offset;
}

template <class Body>
cudaError_t copy_in_stream(cudaStream_t stream, Body body,
                           const char* function = __builtin_FUNCTION()) {
  const auto in_turn = [&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    return body(place_in_order{stream, false});
  };
  return call_without_waiting(in_turn, function);
}

// A call that blocks only where the copy or fill itself is one that the host waits for.
template <class Body>
cudaError_t call_in_default_stream(Body body, const char* function = __builtin_FUNCTION()) {
  return call_without_waiting([&] { return body(place_in_order{}); }, function);
}

// A copy within the device does not make the host wait, even under the name of a blocking copy. Any
// other waits for the default stream, and not for streams that are non-blocking.
template <class Body>
cudaError_t blocking_copy(cudaMemcpyKind kind, Body body,
                          const char* function = __builtin_FUNCTION()) {
  if (kind == cudaMemcpyDeviceToDevice) return call_in_default_stream(body, function);
  return call_that_waits_by([] {}, [&] { return body(place_in_order{}); }, function);
}

}  // namespace

cudaError_t copy_to_symbol(const part_of_symbol& to, const void* source, cudaMemcpyKind kind,
                           std::optional<cudaStream_t> stream) {
  const auto body = [&](const place_in_order& in) {
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) {
      return cudaErrorInvalidMemcpyDirection;
    }
    void* const destination = address_of(to);
    return destination ? copy(destination, source, to.bytes, kind, in) : cudaErrorInvalidValue;
  };
  return stream ? copy_in_stream(*stream, body, "cudaMemcpyToSymbolAsync")
                : blocking_copy(kind, body, "cudaMemcpyToSymbol");
}

cudaError_t copy_from_symbol(void* destination, const part_of_symbol& from, cudaMemcpyKind kind,
                             std::optional<cudaStream_t> stream) {
  const auto body = [&](const place_in_order& in) {
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) {
      return cudaErrorInvalidMemcpyDirection;
    }
    const void* const source = address_of(from);
    return source ? copy(destination, source, from.bytes, kind, in) : cudaErrorInvalidValue;
  };
  return stream ? copy_in_stream(*stream, body, "cudaMemcpyFromSymbolAsync")
                : blocking_copy(kind, body, "cudaMemcpyFromSymbol");
}

cudaError_t symbol_address(void** pointer, const void* symbol, std::size_t symbol_bytes) {
  return call_without_waiting(
      [&] {
        if (!pointer) return cudaErrorInvalidValue;
        register_symbol(symbol, symbol_bytes);
        *pointer = const_cast<void*>(symbol);
        return cudaSuccess;
      },
      "cudaGetSymbolAddress");
}

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes,
                       cudaMemcpyKind kind) {
  return blocking_copy(
      kind, [&](const place_in_order& in) { return copy(destination, source, bytes, kind, in); });
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in_stream(
      stream, [&](const place_in_order& in) { return copy(destination, source, bytes, kind, in); });
}

cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source,
                           int source_device, std::size_t bytes) {
  return cudaMemcpyPeerAsync(destination, destination_device, source, source_device, bytes,
                             nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, std::size_t bytes, cudaStream_t stream) {
  return copy_in_stream(stream, [&](const place_in_order& in) {
    if (destination_device != 0 || source_device != 0) return cudaErrorInvalidDevice;
    return copy(destination, source, bytes, cudaMemcpyDeviceToDevice, in);
  });
}

cudaError_t cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source,
                         std::size_t source_pitch, std::size_t width, std::size_t height,
                         cudaMemcpyKind kind) {
  return blocking_copy(kind, [&](const place_in_order& in) {
    return copy_2d(destination, destination_pitch, source, source_pitch, width, height, kind, in);
  });
}

cudaError_t cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_in_stream(stream, [&](const place_in_order& in) {
    return copy_2d(destination, destination_pitch, source, source_pitch, width, height, kind, in);
  });
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  return call_in_default_stream(
      [&](const place_in_order& in) { return fill(pointer, value, bytes, in); });
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return copy_in_stream(stream,
                        [&](const place_in_order& in) { return fill(pointer, value, bytes, in); });
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return call_in_default_stream(
      [&](const place_in_order& in) { return fill_2d(pointer, pitch, value, width, height, in); });
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return copy_in_stream(stream, [&](const place_in_order& in) {
    return fill_2d(pointer, pitch, value, width, height, in);
  });
}

namespace cpu_backend {

// Memory of three dimensions: slices of rows, each row as long as the pitch says. A slice has as
// many rows as the pointer's ysize says.

namespace {

// The row in which a box begins, in the slice of number `slice` of the box.
std::byte* row_of(const cudaPitchedPtr& memory, const cudaPos& at, std::size_t slice) {
  return static_cast<std::byte*>(memory.ptr) +
         ((at.z + slice) * memory.ysize + at.y) * memory.pitch + at.x;
}

// A box of one slice may leave the rows of a slice unsaid.
bool is_within(const cudaPitchedPtr& memory, const cudaPos& at, const cudaExtent& extent) {
  return memory.ptr && at.x + extent.width <= memory.pitch &&
         (extent.depth == 1 || at.y + extent.height <= memory.ysize);
}

}  // namespace
}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return call_without_waiting([] { return cudaErrorInvalidValue; });
  *pointer = {nullptr, 0, extent.width, extent.height};
  if (extent.depth != 0 && extent.height > static_cast<std::size_t>(-1) / extent.depth) {
    return call_without_waiting([] { return cudaErrorMemoryAllocation; });
  }
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (!parameters) return call_without_waiting([] { return cudaErrorInvalidValue; });
  const cudaMemcpy3DParms& copy = *parameters;
  if (copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0) {
    return call_that_waits([] { return cudaSuccess; });
  }
  if (!is_within(copy.srcPtr, copy.srcPos, copy.extent) ||
      !is_within(copy.dstPtr, copy.dstPos, copy.extent)) {
    return call_without_waiting([] { return cudaErrorInvalidValue; });
  }
  for (std::size_t slice = 0; slice < copy.extent.depth; ++slice) {
    const cudaError_t error =
        cudaMemcpy2D(row_of(copy.dstPtr, copy.dstPos, slice), copy.dstPtr.pitch,
                     row_of(copy.srcPtr, copy.srcPos, slice), copy.srcPtr.pitch, copy.extent.width,
                     copy.extent.height, copy.kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (!is_stream(stream)) {
    return call_without_waiting([] { return cudaErrorInvalidResourceHandle; });
  }
  return cudaMemcpy3D(parameters);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  if (extent.width != 0 && extent.height != 0 && extent.depth != 0 &&
      !is_within(pointer, {0, 0, 0}, extent)) {
    return call_without_waiting([] { return cudaErrorInvalidValue; });
  }
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    const cudaError_t error = cudaMemset2D(row_of(pointer, {0, 0, 0}, slice), pointer.pitch, value,
                                           extent.width, extent.height);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  if (!is_stream(stream)) {
    return call_without_waiting([] { return cudaErrorInvalidResourceHandle; });
  }
  return cudaMemset3D(pointer, value, extent);
}
