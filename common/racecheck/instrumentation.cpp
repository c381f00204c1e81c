// SPDX-License-Identifier: MIT
// What a compiler's thread sanitizer calls before each access to memory (-fsanitize=thread, given
// to the compiler alone and not to the linker). The names and parameters are those of compiler-rt's
// tsan_interface.h; g++ uses the same, with write_range and read_range besides.
//
// This file itself is compiled without instrumentation, and its state is constant-initialised:
// instrumented code runs before main().
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu_backend/multiprocessor.hpp"
#include "racecheck/access_log.hpp"
#include "racecheck/checker.hpp"

using racecheck::checker;
using racecheck::checker_synchronizes;
using racecheck::plain_accesses;
using racecheck::running_thread;

namespace {

// A thread that waits by reading plain or volatile memory must let others run, too.
constexpr unsigned accesses_between_turns = 1u << 14;
__thread unsigned accesses_until_turn = accesses_between_turns;

void let_others_run() {
  accesses_until_turn = accesses_between_turns;
  if (cpu_backend::multiprocessor* on = cpu_backend::this_multiprocessor) {
    on->give_turn_back(false);
  }
}

inline void on_read(const void* address, std::size_t bytes, const void* from) {
  if (!running_thread) return;
  plain_accesses.add(static_cast<const std::byte*>(address), bytes, from, false);
  if (--accesses_until_turn == 0) [[unlikely]]
    let_others_run();
}

inline void on_write(const void* address, std::size_t bytes, const void* from) {
  if (!running_thread) return;
  plain_accesses.add(static_cast<const std::byte*>(address), bytes, from, true);
}

// A volatile access may be one look of a loop that waits.
// Inlined, as its frame must be that of the function that the compiler's instrumentation calls.
__attribute__((always_inline)) inline void on_volatile_read(const void* address, std::size_t bytes,
                                                            const void* from) {
  if (running_thread) {
    if (cpu_backend::multiprocessor* on = cpu_backend::this_multiprocessor) {
      __builtin_unwind_init();
      on->note_state(__builtin_frame_address(0));
      {
        const checker_synchronizes now;
        checker::instance().volatile_access(now.thread(), static_cast<const std::byte*>(address),
                                            bytes, plain_accesses.number_of(from), false);
      }
      on->fruitless(cpu_backend::place{});
      on->switch_point(cpu_backend::place{});
    }
  }
}
inline void on_volatile_write(const void* address, std::size_t bytes, const void* from) {
  if (!running_thread) return;
  const checker_synchronizes now;
  if (checker::instance().volatile_access(now.thread(), static_cast<const std::byte*>(address),
                                          bytes, plain_accesses.number_of(from), true)) {
    cpu_backend::this_multiprocessor->changed_memory();
  }
  if (cpu_backend::multiprocessor* on = cpu_backend::this_multiprocessor) on->progressed();
}

}  // namespace

#define HERE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** address) { on_read(address, sizeof(void*), HERE); }
void __tsan_vptr_update(void** address, void*) { on_write(address, sizeof(void*), HERE); }
void __tsan_read_range(void* address, unsigned long bytes) { on_read(address, bytes, HERE); }
void __tsan_write_range(void* address, unsigned long bytes) { on_write(address, bytes, HERE); }

#define RACECHECK_ACCESS(bytes)                                                               \
  void __tsan_read##bytes(void* address) { on_read(address, bytes, HERE); }                   \
  void __tsan_write##bytes(void* address) { on_write(address, bytes, HERE); }                 \
  void __tsan_volatile_read##bytes(void* address) { on_volatile_read(address, bytes, HERE); } \
  void __tsan_volatile_write##bytes(void* address) { on_volatile_write(address, bytes, HERE); }
#define RACECHECK_UNALIGNED_ACCESS(bytes)                                               \
  void __tsan_unaligned_read##bytes(void* address) { on_read(address, bytes, HERE); }   \
  void __tsan_unaligned_write##bytes(void* address) { on_write(address, bytes, HERE); } \
  void __tsan_unaligned_volatile_read##bytes(void* address) {                           \
    on_volatile_read(address, bytes, HERE);                                             \
  }                                                                                     \
  void __tsan_unaligned_volatile_write##bytes(void* address) {                          \
    on_volatile_write(address, bytes, HERE);                                            \
  }
RACECHECK_ACCESS(1)
RACECHECK_ACCESS(2)
RACECHECK_ACCESS(4)
RACECHECK_ACCESS(8)
RACECHECK_ACCESS(16)
RACECHECK_UNALIGNED_ACCESS(2)
RACECHECK_UNALIGNED_ACCESS(4)
RACECHECK_UNALIGNED_ACCESS(8)
RACECHECK_UNALIGNED_ACCESS(16)

// The standard library's memory functions, which the linker hands over to these (--wrap).
void* __real_memcpy(void*, const void*, std::size_t);
void* __real_memmove(void*, const void*, std::size_t);
void* __real_memset(void*, int, std::size_t);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  if (running_thread && bytes != 0) {
    on_read(from, bytes, HERE);
    on_write(to, bytes, HERE);
  }
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  if (running_thread && bytes != 0) {
    on_read(from, bytes, HERE);
    on_write(to, bytes, HERE);
  }
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  if (running_thread && bytes != 0) on_write(to, bytes, HERE);
  return __real_memset(to, value, bytes);
}

}  // extern "C"
