// SPDX-License-Identifier: MIT
// The scheduled form's answers to what the two forms of the backend decide differently: the
// scheduler decides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_backend/execution/place.hpp"

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

// Whether a launch moves only while a host thread waits for it or gives other work.
constexpr bool moves_only_when_told() { return true; }

// The host launches a kernel: nothing of it has happened yet.
void launch_comes();

// The program does something of this kind, by this name. A run by decisions writes down each once,
// and the reader of that knows which of them are explored: so what is new is denied until it is
// put on that list (engine/prove/explored.json). Names have no spaces, and live as long as the
// program. `at` is nullptr where the caller is on the call stack.
void used(const char* kind, const char* name, const place* at = nullptr);
// The host calls this function of the runtime.
void called(const char* function);

// The running thread has waited until the word was no longer `old`, and has just loaded what it is
// now. Notifications of the word wake one thread or all. A wait that might have slept for ever is
// `used` at the launch's end.
void has_waited(const void* word, const void* old, std::size_t bytes, const place& at);
void notifies(const void* word, bool all);

// Whether this call fails by chance, as it may although nothing stands in its way: in a run that
// LAB_PROVE_FAILS_BY_CHANCE asks for, in some threads the first call at each place.
bool fails_by_chance(const char* function, const place& at);

// The same of one whose value is undefined: it is another one in such a run.
std::uint64_t undefined_value(const char* function, const place& at, std::uint64_t value);

// Without LAB_SMS. The same on every machine: a seed's run must not depend on it.
constexpr int default_number_of_sms() { return 8; }

// Whether it tells anything about a kernel how long it runs.
inline constexpr bool times_mean_something = false;
// Whether every run is to read the same times: then none passes between two events.
bool hides_times();

}  // namespace form
}  // namespace cpu_backend

// What __global__ means in the scheduled form: with g++, everything that the kernel calls is
// inlined.
//
// g++ instruments no call that stores a class object straight from the function that returns it, as
// in `shared[i] = multiply(a, b)` for float2: the checker would miss the store. Without the call
// there is a store that it sees. Calls through pointers remain. clang instruments what is stored.
#ifdef __clang__
#define __cpu_backend_kernel__
#else
#define __cpu_backend_kernel__ __attribute__((__flatten__))
#endif
