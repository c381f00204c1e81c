// SPDX-License-Identifier: MIT
// What an observer of the scheduled form may ask of it. (What it is told is in observer.hpp.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cpu_backend/execution/kernel_fault.hpp"
#include "cpu_backend/observer.hpp"

namespace cpu_backend::scheduled {

// Settles the order in which blocks and threads run in all later launches: the same seed, the same
// run. Without this call the seed is 0.
void set_seed(std::uint64_t seed);

// From here on every seed shuffles, and a block that has come to an atomic after a fence waits
// until the others have come to theirs; mostly the one that came last goes on first. Some wait
// before the atomic, with all their threads: their fences are then before those of blocks that
// signal earlier. Some wait after it, before the block's other threads go on.
void hold_back_after_fences();
// From here on a block mostly comes from one fence to the next without an interruption, and a warp
// from one barrier to the next while the others of its block wait: so what is written too early is
// written before others have read what was there.
void run_ahead();
// In the next launch the block with the largest number begins late: when the word `*until` in
// global memory is at least that number, or at least `at_most`.
void delay_last_block(const unsigned* until, unsigned at_most);

// ---- Accesses to memory that the backend does not see by itself, by the thread that runs. On a
// thread of the host these do nothing.

// First thing in a function that a waiting thread may call again and again: remembers what the
// thread itself holds. `frame` is that function's, which must have saved all registers there
// (__builtin_unwind_init).
void note_state(const void* frame);
// An access by which threads wait for each other, and whether it changed memory: here another
// thread or block may go on. `from` is the instruction after it.
void accessed(bool changed_memory, const void* from);
// The thread has changed memory, so that it does not wait; no other thread goes on.
void progressed();
// Some thread of the block has changed memory earlier in this turn.
void memory_changed();
// No launch has: the host, or a copy.
void others_change_memory();
bool runs_by_decisions();
// A function has begun at the instruction `from`; `frame` is just below its frame.
void function_begins(const void* frame, const void* from);
// Which variable of the device is there. (Those of classes, templates and functions are not known.)
enum class device_variable { none, variable, constant, padding };
device_variable device_variable_at(const void* address);
struct span_of_memory {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;

  // The offset in it, if that is less than `bytes`.
  std::size_t offset_of(const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - begin);
  }
  bool holds(const void* address) const { return offset_of(address) < bytes; }
};
// From the first of them to the last, but for managed ones.
extern constinit span_of_memory variables_of_device;
// Whether that is a __device__ or __constant__ one, of which the host has a copy of its own.
bool is_variable_of_device_alone(const void* address);
// As form::used(); the instruction before `from` did it, or, if that is nullptr, who calls.
void used(const char* kind, const char* name, const void* from);
// Whether that is a local variable of the running thread, or of any thread.
bool is_own_local(const void* address);
bool is_local(const void* address);
// Before a strong access and after it, in a run by decisions (scheduled/decisions.hpp). The state
// of a thread that may wait has been noted.
void strong_access_begins(const void* address, std::size_t bytes);
void strong_access_done(const void* address, std::size_t bytes, observer::access kind,
                        bool changed_memory, const char* order);
// How a run by decisions writes down the order and the scope of an atomic.
const char* order_in_words(bool acquires, bool releases, observer::scope within);
// Before a sequentially consistent fence.
void sc_fence_begins();
void fence_done(observer::fence_kind kind, observer::scope within);
// Between the two calls of a strong access, and in a run by decisions only: which write of its word
// it reads, or is next to in coherence order.
std::optional<unsigned> decided_write();
// The running block has written so to memory that strong accesses have used.
void written_weakly(const void* address, std::size_t bytes);
// In such a run: who has waited for whom.
void barrier_opened();
void lanes_met(unsigned first_rank, unsigned lanes, bool orders_memory);
// And what the launch leaves, at its end.
void launch_leaves(std::uint64_t hash);
// Another block may go on, whatever the thread is doing.
void give_turn_back();

// Ends the launch where no way through the program leads; on the host it ends the program, too.
[[noreturn]] void end_at_unreachable(const void* from);
// Ends the launch, because the running thread is about to make such an access at the instruction
// before `from`: at an address that is no multiple of its size, or out of the block's shared
// memory.
void end_at_misaligned_access(const void* address, std::size_t bytes, bool writes, const void* from,
                              bool is_known = true);
// (Where that writes.) Without `from` the instruction is not known. On a thread of the host they do
// nothing.
void end_at_access_out_of_shared_memory(const void* address, std::size_t bytes, const void* from);
// The thread that runs and was stopped because its launch did not end; nullptr: none was. To be
// called at observer::block_pauses(), while the launch is there.
const kernel_fault* stopped_thread();
// Whether it is in threadIdx or another of the backend's variables that each OS thread has.
bool is_built_in_variable(const void* address);
// Whether it is in the dynamic shared memory that all blocks have at one address, or next to it.
bool is_at_extern_shared_arrays(const void* address);

}  // namespace cpu_backend::scheduled
