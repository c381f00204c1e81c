// SPDX-License-Identifier: MIT
// The concurrent form's answers to what the two forms of the backend decide differently. Blocks run
// side by side, each on an OS thread, and their threads in the cheapest order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_backend/execution/place.hpp"

namespace cpu_backend {

class thread_queue;

namespace form {

// The block that starts as the `position`-th of a launch.
constexpr std::uint64_t block_at(std::uint64_t position) { return position; }
// Whether a thread that has not begun goes before one that waits for its turn.
constexpr bool prefers_new_thread() { return true; }
// Puts threads that were released together into the order in which they go on.
inline void reorder(thread_queue&) {}
// Whether lanes that have met go on before the threads of other warps.
constexpr bool lets_warp_run_ahead() { return false; }

// Whether a launch moves only while a host thread waits for it or gives other work.
constexpr bool moves_only_when_told() { return false; }

// The host launches a kernel: nothing of it has happened yet.
inline void launch_comes() {}

// What the program does, for a run by decisions: see the scheduled form's header.
inline void used(const char*, const char*, const place* = nullptr) {}
inline void called(const char*) {}
inline void has_waited(const void*, const void*, std::size_t, const place&) {}
inline void notifies(const void*, bool) {}

constexpr bool fails_by_chance(const char*, const place&) { return false; }

// Without LAB_SMS. Blocks are to run side by side even on a small machine.
int default_number_of_sms();

// Whether it tells anything about a kernel how long it runs.
inline constexpr bool times_mean_something = true;
// Whether every run is to read the same times: then none passes between two events.
constexpr bool hides_times() { return false; }

}  // namespace form
}  // namespace cpu_backend

// What __global__ means in the concurrent form: nothing.
#define __cpu_backend_kernel__
