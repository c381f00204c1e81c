// SPDX-License-Identifier: MIT
// Allocation. Device memory is ordinary memory between two stretches that may not be touched, so
// that a kernel that runs far enough out of an allocation faults as on a GPU instead of hitting the
// next one.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/allocations.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/work_queue.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

constexpr std::size_t alignment = 256;        // of every pointer that cudaMalloc returns
constexpr std::size_t pitch_alignment = 512;  // as on today's GPUs
constexpr std::size_t poisoned_up_to = std::size_t{64} << 10;
constexpr int poison = 0xCD;
// On both sides of an allocation. Only addresses, no memory: as many as a grid that is a few
// thousand blocks too large would overrun.
constexpr std::size_t guard_bytes = std::size_t{1} << 20;
constexpr std::size_t worth_huge_pages = std::size_t{4} << 20;

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Where the next mapping is asked for; nullptr: anywhere. `lab prove` compares runs in which each
// address has the opposite bits from a page on: then they come in the opposite order, too.
void* next_mapping(std::size_t bytes) {
  static const bool is_decided = setting("LAB_PROVE_DECISIONS");
  static const bool is_opposite = setting("LAB_PROVE_FAILS_BY_CHANCE");
  if (!is_decided && !is_opposite) return nullptr;
  constexpr std::uintptr_t first = std::uintptr_t{1} << 44, all = (std::uintptr_t{1} << 46) - 1;
  static std::atomic<std::uintptr_t> used = 0;
  const std::uintptr_t begin = first + used.fetch_add(bytes);
  return reinterpret_cast<void*>(is_opposite ? all - (begin + bytes - 1) : begin);
}

// Maps a block that ends as close to its upper guard as the alignment allows: running off the
// end is the common mistake. Pages of a large block are not touched, so they cost nothing before
// their use.
cudaError_t map_block(void** pointer, std::size_t bytes, memory_kind kind,
                      allocation_origin origin = allocation_origin::mapped,
                      unsigned int flags = 0) {
  if (!pointer) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  if (bytes > total_memory()) return cudaErrorMemoryAllocation;  // and so nothing below overflows
  const std::size_t block_bytes = round_up(bytes, alignment);
  const std::size_t usable_bytes = round_up(block_bytes, page_bytes());
  const std::size_t mapping_bytes = usable_bytes + 2 * guard_bytes;
  if (!set_memory_aside(usable_bytes)) return cudaErrorMemoryAllocation;

  const auto map = [&] {
    return mmap(next_mapping(mapping_bytes), mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
  };
  void* mapping = map();
  if (mapping == MAP_FAILED && forget_freed_memory()) mapping = map();
  if (mapping == MAP_FAILED) {
    return_memory(usable_bytes);
    return cudaErrorMemoryAllocation;
  }
  std::byte* const usable = static_cast<std::byte*>(mapping) + guard_bytes;
  if (mprotect(usable, usable_bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapping_bytes);
    return_memory(usable_bytes);
    return cudaErrorMemoryAllocation;
  }
  if (usable_bytes >= worth_huge_pages) madvise(usable, usable_bytes, MADV_HUGEPAGE);  // a hint
  if (usable_bytes <= poisoned_up_to) std::memset(usable, poison, usable_bytes);

  std::byte* const begin = usable + usable_bytes - block_bytes;
  allocations().insert({.block = {begin, bytes, kind},
                        .origin = origin,
                        .flags = flags,
                        .mapping = static_cast<std::byte*>(mapping),
                        .mapping_bytes = mapping_bytes,
                        .allocated_at = call_stack::here()});
  *pointer = begin;
  return cudaSuccess;
}

void unmap_block(const allocation_record& record) {
  free_mapping(record, call_stack::here());
  return_memory(record.mapping_bytes - 2 * guard_bytes);
}

bool is_device_side(const allocation_record& record) {
  return record.mapping && record.block.kind != memory_kind::pinned;
}

cudaError_t free_block(void* pointer, bool (*accept)(const allocation_record&)) {
  const auto record = allocations().take(pointer, accept);
  if (!record) return cudaErrorInvalidValue;
  unmap_block(*record);
  return cudaSuccess;
}

// Frees what CUDA does not promise to wait for: pinned memory, and by cudaFree() that of a pool
// ("the driver assumes that all accesses to the allocation are complete"). What still uses it comes
// first here, and for the host it need not be done.
cudaError_t free_unordered(void* pointer, bool (*accept)(const allocation_record&),
                           const char* function = __builtin_FUNCTION()) {
  return call_that_waits_by(
      work_order::finish_all,
      [&] {
        if (!pointer) return cudaSuccess;
        const auto found = allocations().find(pointer);
        if (found && found->block.begin == pointer && work_order::host_is_ahead) {
          observer::memory_written(work_order::host_call(), pointer, found->block.bytes);
        }
        return free_block(pointer, accept);
      },
      function);
}

// A range of managed memory that lies within one allocation.
bool is_managed(const void* pointer, std::size_t bytes) {
  const auto record = allocations().find(pointer);
  if (!record || record->block.kind != memory_kind::managed || !record->holds(pointer))
    return false;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) -
                                               static_cast<const std::byte*>(record->block.begin));
  return bytes <= record->block.bytes - offset;
}

cudaError_t check_location(const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      return location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

void release_all_memory() {
  while (const auto record = allocations().take_any()) {
    if (record->mapping) unmap_block(*record);
  }
}

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return call_without_waiting([&] { return map_block(pointer, bytes, memory_kind::device); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return call_without_waiting([&] {
    if (!pointer || !pitch) return cudaErrorInvalidValue;
    if (width > total_memory()) return cudaErrorMemoryAllocation;
    const std::size_t row = round_up(width, pitch_alignment);
    if (row != 0 && height > total_memory() / row) return cudaErrorMemoryAllocation;
    *pitch = row;
    return map_block(pointer, row * height, memory_kind::device);
  });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned int flags) {
  return call_without_waiting([&] {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    return map_block(pointer, bytes, memory_kind::managed);
  });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    const cudaError_t error =
        map_block(pointer, bytes, memory_kind::device, allocation_origin::stream_ordered);
    if (error || faulted()) return error;
    // Here it is there at once; elsewhere once the stream has come to it. It is as a read: what
    // writes there, or frees it, is later; and nothing is written yet.
    work_queue::give(stream, work_kind::allocation, [begin = *pointer, bytes](const work& given) {
      observer::memory_read(given, begin, bytes);
    });
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags) {
  return call_without_waiting([&] {
    constexpr unsigned int known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return cudaErrorInvalidValue;
    return map_block(pointer, bytes, memory_kind::pinned, allocation_origin::mapped, flags);
  });
}

cudaError_t cudaFree(void* pointer) {
  [[maybe_unused]] const observer::runtime_access now;
  const auto found = allocations().find(pointer);
  if (found && found->origin == allocation_origin::stream_ordered) {
    return free_unordered(pointer, is_device_side);
  }
  return call_that_waits([&] {
    if (!pointer) return cudaSuccess;
    return free_block(pointer, is_device_side);
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    constexpr auto is_stream_ordered = [](const allocation_record& record) {
      return record.origin == allocation_origin::stream_ordered;
    };
    const auto found = allocations().find(pointer);
    if (!found || found->block.begin != pointer || !is_stream_ordered(*found)) {
      return cudaErrorInvalidValue;
    }
    work_queue::give(stream, work_kind::release,
                     [pointer, bytes = found->block.bytes, is_stream_ordered](const work& given) {
                       observer::memory_written(given, pointer, bytes);
                       (void)free_block(pointer, is_stream_ordered);
                     });
    return cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* pointer) {
  return free_unordered(pointer, [](const allocation_record& record) {
    return record.mapping && record.block.kind == memory_kind::pinned;
  });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return call_without_waiting([&] {
    constexpr unsigned int known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                   cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (!pointer || bytes == 0 || (flags & ~known)) return cudaErrorInvalidValue;
    if (allocations().overlaps(pointer, bytes)) return cudaErrorHostMemoryAlreadyRegistered;
    allocation_record record;
    record.block = {pointer, bytes, memory_kind::pinned};
    record.origin = allocation_origin::host_registered;
    record.flags = flags;
    allocations().insert(record);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call_that_waits([&] {
    if (!pointer) return cudaErrorInvalidValue;
    const auto record = allocations().take(pointer, [](const allocation_record& candidate) {
      return candidate.origin == allocation_origin::host_registered;
    });
    return record ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer,
                                     unsigned int flags) {
  return call_without_waiting([&] {
    if (!device_pointer || flags != 0) return cudaErrorInvalidValue;
    const auto record = allocations().find(host_pointer);
    if (!record || record->block.kind != memory_kind::pinned || !record->holds(host_pointer)) {
      return cudaErrorInvalidValue;
    }
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host_pointer) {
  return call_without_waiting([&] {
    if (!flags) return cudaErrorInvalidValue;
    const auto record = allocations().find(host_pointer);
    if (!record || record->block.kind != memory_kind::pinned || !record->holds(host_pointer)) {
      return cudaErrorInvalidValue;
    }
    *flags = record->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call_without_waiting([&] {
    if (!free || !total) return cudaErrorInvalidValue;
    *free = free_memory();
    *total = total_memory();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call_without_waiting([&] {
    if (!attributes) return cudaErrorInvalidValue;
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, nullptr};
    const auto record = allocations().find(pointer);
    if (!record || !record->holds(pointer)) return cudaSuccess;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    switch (record->block.kind) {
      case memory_kind::device:
      case memory_kind::symbol:
        attributes->type = cudaMemoryTypeDevice;
        return cudaSuccess;
      case memory_kind::managed:
        attributes->type = cudaMemoryTypeManaged;
        break;
      case memory_kind::pinned:
        attributes->type = cudaMemoryTypeHost;
        break;
    }
    attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  });
}

// Advice about where managed memory should be: all of it is in one place here, so a valid request
// is granted by doing nothing.
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (flags != 0 || bytes == 0 || !is_managed(pointer, bytes)) return cudaErrorInvalidValue;
    return check_location(location);
  });
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return call_without_waiting([&] {
    if (bytes == 0 || !is_managed(pointer, bytes)) return cudaErrorInvalidValue;
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
      case cudaMemAdviseUnsetPreferredLocation:
        return cudaSuccess;  // CUDA ignores the location
      case cudaMemAdviseSetPreferredLocation:
      case cudaMemAdviseSetAccessedBy:
      case cudaMemAdviseUnsetAccessedBy:
        return check_location(location);
      default:
        return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t bytes,
                                     unsigned int flags) {
  return call_without_waiting([&] {
    if (!is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
        flags != cudaMemAttachSingle) {
      return cudaErrorInvalidValue;
    }
    return is_managed(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
