// SPDX-License-Identifier: MIT
// The host's own accesses to device memory: here they work, and on a GPU they end the program.
//
// Host code of a .cu file is instrumented like its kernels. An access to memory of cudaMalloc() or
// to a variable of the device ends the program, with its line; managed and pinned memory are the
// host's, too.
#pragma once

#include <cstddef>

#include "cpu_backend/scheduled.hpp"

namespace racecheck {

// From the lowest address of device memory up to the highest. Any host thread may ask, so that
// most accesses cost a comparison; what lies in between is looked up.
struct device_addresses {
  const std::byte* lowest = nullptr;
  std::size_t bytes = 0;
};
extern constinit device_addresses all_device_memory;

// How many copies, fills and launches of the runtime this thread is in.
extern constinit __thread unsigned accesses_by_runtime;

void device_memory_appears(const std::byte* begin, std::size_t bytes);
void device_memory_disappears(const std::byte* begin);

// Ends the program if these bytes are device memory. On a host thread.
void check_host_access(const std::byte* address, bool writes);

// In a run by decisions, and before the host has waited for all that it has given the device: notes
// an access to what kernels may access as well.
void note_early_access(const std::byte* address);

// The same, for the usual case that they are not.
inline void on_host_access(const void* address, bool writes) {
  const auto* const at = static_cast<const std::byte*>(address);
  if (cpu_backend::scheduled::device_has_work) [[unlikely]]
    note_early_access(at);
  if (static_cast<std::size_t>(at - all_device_memory.lowest) < all_device_memory.bytes)
      [[unlikely]] {
    check_host_access(at, writes);
  }
}

// What kernels print, in a run by decisions. Two threads of a launch print in any order, and on a
// GPU it comes out when the host waits: only one thread's output, for which the host has waited,
// is the same in all orders. To be called when a launch begins, no thread of which has printed.
void launch_prints();

}  // namespace racecheck
