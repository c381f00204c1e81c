// SPDX-License-Identifier: MIT
// The scheduled form's answers to what the two forms of the backend decide differently: the
// scheduler decides.
#pragma once

#include <cstdint>

namespace cpu_backend {

class thread_queue;

namespace form {

// The block that starts as the `position`-th of a launch.
std::uint64_t block_at(std::uint64_t position);
// Whether a thread that has not begun goes before one that waits for its turn.
bool prefers_new_thread();
// Puts threads that were released together into the order in which they go on.
void reorder(thread_queue& released);
// Whether lanes that have met go on before the threads of other warps.
bool lets_warp_run_ahead();

// The host launches a kernel: nothing of it has happened yet.
void launch_comes();

// Without LAB_SMS. The same on every machine: a seed's run must not depend on it.
constexpr int default_number_of_sms() { return 8; }

// Whether it tells anything about a kernel how long it runs.
inline constexpr bool times_mean_something = false;
// Whether every run is to read the same times: then none passes between two events.
bool hides_times();

}  // namespace form
}  // namespace cpu_backend
