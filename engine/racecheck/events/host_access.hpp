// SPDX-License-Identifier: MIT
// The host's own accesses to device memory: here they work, and on a GPU they end the program.
//
// Host code of a .cu file is instrumented like its kernels. An access to memory of cudaMalloc() or
// to a variable of the device ends the program, with its line; managed and pinned memory are the
// host's, too.
#pragma once

#include <cstddef>

#include "cpu_backend/runtime/work_order.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/event_consumer.hpp"

namespace racecheck {

// From the lowest address of device memory up to the highest. Any host thread may ask, so that
// most accesses cost a comparison; what lies in between is looked up.
extern constinit cpu_backend::scheduled::span_of_memory all_device_memory;

// How many copies, fills and launches of the runtime this thread is in.
extern constinit __thread unsigned accesses_by_runtime;

void device_memory_appears(const std::byte* begin, std::size_t bytes);
void device_memory_disappears(const std::byte* begin);

// Ends the program if these bytes are device memory. On a host thread.
void check_host_access(const std::byte* address, bool writes);

// The same if it is a __device__ or __constant__ variable.
void check_host_variable(const std::byte* address, bool writes);

// A copy has taken a byte there, that nothing had written, or another one.
void note_copied_byte(const std::byte* at, bool is_unwritten);
// From the first of those to the last.
extern constinit cpu_backend::scheduled::span_of_memory copied_unwritten;
// The host uses bytes in between. What it has changed since without being seen is not what was
// copied.
void check_copied_bytes(const std::byte* address, std::size_t bytes, const void* from, bool writes);

// While work of the device need not be done: an access to what a kernel may access as well.
void note_early_access(const host_access& by);

// In a run by decisions of a program that has begun threads: an access to any memory.
extern constinit bool watches_host_threads;
void note_access_of_thread(const host_access& by);
// There, a host thread takes its turn at a mutex, or writes an atomic; which it is not yet after.
void note_turn_of_thread(const void* object, const void* from);

// The same, for the usual case that they are not.
inline void on_host_access(const host_access& by) {
  if (watches_host_threads) [[unlikely]]
    note_access_of_thread(by);
  // First what ends the program: that kernels work there as well is the smaller mistake.
  if (all_device_memory.holds(by.address)) [[unlikely]]
    check_host_access(by.address, by.writes);
  if (cpu_backend::scheduled::variables_of_device.holds(by.address)) [[unlikely]]
    check_host_variable(by.address, by.writes);
  if (cpu_backend::work_order::host_is_ahead) [[unlikely]]
    note_early_access(by);
}
inline void on_host_access(const void* address, std::size_t bytes, const void* from, bool writes) {
  on_host_access({static_cast<const std::byte*>(address), bytes, from, writes});
}
// The same, where what it reads is more than copied.
inline void on_host_use(const void* address, std::size_t bytes, const void* from, bool writes) {
  if (copied_unwritten.holds(address)) [[unlikely]]
    check_copied_bytes(static_cast<const std::byte*>(address), bytes, from, writes);
  on_host_access(address, bytes, from, writes);
}
// A volatile access has the order that the processors of hosts give it.
inline void on_volatile_host_access(const void* address, std::size_t bytes, const void* from,
                                    bool writes) {
  on_host_access({.address = static_cast<const std::byte*>(address),
                  .bytes = bytes,
                  .from = from,
                  .writes = writes,
                  .is_volatile = true,
                  .acquires = !writes,
                  .releases = writes});
}
// One of the host's is about to happen,
void host_atomic_begins();
// and it has happened.
void on_host_atomic(const void* address, std::size_t bytes, cpu_backend::observer::access kind,
                    bool acquires, bool releases, const void* from,
                    const cpu_backend::place* at = nullptr);

// Whether the calling thread is one of the program's, and not its first.
bool is_second_host_thread();

// One runs: so mutexes order what the program does.
void note_function_in_stream();

// What kernels print, in a run by decisions. Two threads of a launch print in any order, and on a
// GPU it comes out when the host waits: only one thread's output, for which the host has waited,
// is the same in all orders. To be called when a launch begins, no thread of which has printed.
void launch_prints();
// The host has waited for all work.
void output_has_come();
// What they have printed is lost, if the host has not waited.
void program_ends();

}  // namespace racecheck
