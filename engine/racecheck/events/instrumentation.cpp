// SPDX-License-Identifier: MIT
// What a compiler's thread sanitizer calls before each access to memory (-fsanitize=thread, given
// to the compiler alone and not to the linker). The names and parameters are those of compiler-rt's
// tsan_interface.h; g++ uses the same, with write_range and read_range besides.
//
// This file itself is compiled without instrumentation, and its state is constant-initialised:
// instrumented code runs before main().

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/host_access.hpp"
#include "racecheck/events/places.hpp"

using racecheck::checker_synchronizes;
using racecheck::consumer;
using racecheck::fence_kind;
using racecheck::index_of_place;
using racecheck::plain_accesses;
using racecheck::running_thread;
using racecheck::scope;

namespace {

// A thread that waits by reading plain or volatile memory must let others run, too.
constexpr unsigned accesses_between_turns = 1u << 14;
__thread unsigned accesses_until_turn = accesses_between_turns;

void let_others_run() {
  accesses_until_turn = racecheck::is_in_atomic ? 1 : accesses_between_turns;
  if (racecheck::is_in_atomic) return;
  cpu_backend::scheduled::give_turn_back();
}

inline void on_read(const void* address, std::size_t bytes, const void* from) {
  constexpr bool writes = false;
  if (!running_thread) return racecheck::on_host_use(address, bytes, from, writes);
  if (--accesses_until_turn == 0) [[unlikely]]
    let_others_run();
  // Last of all: in the weak form it puts into memory what the read is to get.
  plain_accesses.add(static_cast<const std::byte*>(address), bytes, from, false);
}

// For a type that must be aligned, unlike a member of a packed structure. A power of two, so that
// the test is one instruction. The compiler says the same of 16 bytes that must be aligned to 16,
// as a float4, and of a structure of two doubles, for which 8 are enough.
template <unsigned bytes>
inline void check_alignment(const void* address, bool writes, const void* from) {
  constexpr unsigned least = bytes < 8 ? bytes : 8;
  if (reinterpret_cast<std::uintptr_t>(address) % least == 0) [[likely]]
    return;
  if (running_thread) {
    cpu_backend::scheduled::end_at_misaligned_access(address, bytes, writes, from);
  }
}

// Where the compiler knows that the address need not be aligned: of a member of a packed structure,
// or of a word within a variable that is aligned less.
template <unsigned bytes>
inline void check_known_alignment(const void* address, bool writes, const void* from) {
  if (!cpu_backend::has_packed_structures) check_alignment<bytes>(address, writes, from);
}

inline void on_write(const void* address, std::size_t bytes, const void* from) {
  constexpr bool writes = true;
  if (!running_thread) return racecheck::on_host_use(address, bytes, from, writes);
  plain_accesses.add(static_cast<const std::byte*>(address), bytes, from, true);
}

// The read comes last, as above; but the newest values of a piece that is both read and written
// must not be put back over what was written.
inline void on_copy(void* to, const void* from, std::size_t bytes, const void* where) {
  if (bytes == 0) return;
  if (!running_thread) {  // what is copied is not used
    racecheck::on_host_access(from, bytes, where, false);
    return on_write(to, bytes, where);
  }
  const auto distance = static_cast<std::size_t>(static_cast<const std::byte*>(from) -
                                                 static_cast<const std::byte*>(to));
  const bool overlap = distance < bytes || -distance < bytes;
  if (overlap) on_read(from, bytes, where);
  on_write(to, bytes, where);
  if (!overlap) on_read(from, bytes, where);
}

// A volatile access may be one read of a loop that waits.
// Inlined, as its frame must be that of the function that the compiler's instrumentation calls.
__attribute__((always_inline)) inline void on_volatile_read(const void* address, std::size_t bytes,
                                                            const void* from) {
  constexpr bool writes = false;
  if (!running_thread) return racecheck::on_volatile_host_access(address, bytes, from, writes);
  __builtin_unwind_init();
  cpu_backend::scheduled::note_state(__builtin_frame_address(0));
  // Others run before anything is noted, since the program reads only after this call: what they
  // write meanwhile is what it gets.
  constexpr bool changed_memory = false;
  cpu_backend::scheduled::accessed(changed_memory, from);
  // Which value it gets is chosen last of all, since the program reads only after this call.
  cpu_backend::observer::atomic_begins(address, bytes, cpu_backend::observer::access::update);
  const checker_synchronizes now;
  consumer().volatile_access(now.thread(), static_cast<const std::byte*>(address), bytes,
                             index_of_place(from), false);
  cpu_backend::scheduled::strong_access_done(address, bytes, cpu_backend::observer::access::load,
                                             changed_memory, "volatile");
}
inline void on_volatile_write(const void* address, std::size_t bytes, const void* from) {
  constexpr bool writes = true;
  if (!running_thread) return racecheck::on_volatile_host_access(address, bytes, from, writes);
  cpu_backend::observer::atomic_begins(address, bytes, cpu_backend::observer::access::store);
  const checker_synchronizes now;
  consumer().volatile_access(now.thread(), static_cast<const std::byte*>(address), bytes,
                             index_of_place(from), true);
  cpu_backend::scheduled::strong_access_done(address, bytes, cpu_backend::observer::access::store,
                                             true, "volatile");
  // The program writes only after this call: it is not known what.
  cpu_backend::scheduled::written_weakly(address, bytes);
  cpu_backend::scheduled::progressed();
}

}  // namespace

#define HERE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {
  if (running_thread) cpu_backend::scheduled::function_begins(__builtin_frame_address(0), HERE);
}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** address) { on_read(address, sizeof(void*), HERE); }
void __tsan_vptr_update(void** address, void*) { on_write(address, sizeof(void*), HERE); }
void __tsan_read_range(void* address, unsigned long bytes) { on_read(address, bytes, HERE); }
void __tsan_write_range(void* address, unsigned long bytes) { on_write(address, bytes, HERE); }

#define RACECHECK_ACCESS(bytes)                      \
  void __tsan_read##bytes(void* address) {           \
    check_alignment<bytes>(address, false, HERE);    \
    on_read(address, bytes, HERE);                   \
  }                                                  \
  void __tsan_write##bytes(void* address) {          \
    check_alignment<bytes>(address, true, HERE);     \
    on_write(address, bytes, HERE);                  \
  }                                                  \
  void __tsan_volatile_read##bytes(void* address) {  \
    check_alignment<bytes>(address, false, HERE);    \
    on_volatile_read(address, bytes, HERE);          \
  }                                                  \
  void __tsan_volatile_write##bytes(void* address) { \
    check_alignment<bytes>(address, true, HERE);     \
    on_volatile_write(address, bytes, HERE);         \
  }
#define RACECHECK_UNALIGNED_ACCESS(bytes)                      \
  void __tsan_unaligned_read##bytes(void* address) {           \
    check_known_alignment<bytes>(address, false, HERE);        \
    on_read(address, bytes, HERE);                             \
  }                                                            \
  void __tsan_unaligned_write##bytes(void* address) {          \
    check_known_alignment<bytes>(address, true, HERE);         \
    on_write(address, bytes, HERE);                            \
  }                                                            \
  void __tsan_unaligned_volatile_read##bytes(void* address) {  \
    check_known_alignment<bytes>(address, false, HERE);        \
    on_volatile_read(address, bytes, HERE);                    \
  }                                                            \
  void __tsan_unaligned_volatile_write##bytes(void* address) { \
    check_known_alignment<bytes>(address, true, HERE);         \
    on_volatile_write(address, bytes, HERE);                   \
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

// What the compiler's other sanitizer calls where a result is undefined: in these versions the
// program goes on.
#define RACECHECK_UNDEFINED(function, name)                             \
  void __ubsan_handle_##function() {                                    \
    if (!running_thread && racecheck::accesses_by_runtime != 0) return; \
    cpu_backend::scheduled::used("arithmetic", name, HERE);             \
  }
RACECHECK_UNDEFINED(add_overflow, "overflow")
RACECHECK_UNDEFINED(sub_overflow, "overflow")
RACECHECK_UNDEFINED(mul_overflow, "overflow")
RACECHECK_UNDEFINED(negate_overflow, "overflow")
RACECHECK_UNDEFINED(divrem_overflow, "overflow")
RACECHECK_UNDEFINED(shift_out_of_bounds, "shift")
RACECHECK_UNDEFINED(out_of_bounds, "index")
RACECHECK_UNDEFINED(float_cast_overflow, "conversion")

// In the program that is compiled otherwise: an object that is not there, or not aligned for its
// type. As compiler-rt's ubsan_handlers.h has it.
struct racecheck_pointer_use {
  const char* file;
  std::uint32_t line, column;
  const void* type;
  unsigned char log_of_alignment, kind;
};
void __ubsan_handle_type_mismatch_v1(const racecheck_pointer_use* use, const void* pointer) {
  constexpr unsigned char store = 1;  // and a load is 0
  if (!running_thread) return;
  if (!pointer) {
    if (use->kind > store) cpu_backend::scheduled::end_at_unreachable(HERE);
    return;
  }
  cpu_backend::scheduled::end_at_misaligned_access(pointer, std::size_t{1} << use->log_of_alignment,
                                                   use->kind == store, HERE, use->kind <= store);
}
// The program can't go on.
void __ubsan_handle_builtin_unreachable() { cpu_backend::scheduled::end_at_unreachable(HERE); }
void __ubsan_handle_missing_return() { cpu_backend::scheduled::end_at_unreachable(HERE); }

// The standard library's memory functions, which the linker hands over to these (--wrap).
void* __real_memcpy(void*, const void*, std::size_t);
void* __real_memmove(void*, const void*, std::size_t);
void* __real_memset(void*, int, std::size_t);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  const auto distance =
      static_cast<std::size_t>(static_cast<const std::byte*>(from) - static_cast<std::byte*>(to));
  if (distance != 0 && (distance < bytes || -distance < bytes)) {
    cpu_backend::scheduled::used("memory", "overlap", HERE);
  }
  on_copy(to, from, bytes, HERE);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  on_copy(to, from, bytes, HERE);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  if (bytes != 0) on_write(to, bytes, HERE);
  return __real_memset(to, value, bytes);
}

// Those that only read memory, and tell of it what no load has told. A text is read with its end.
int __real_memcmp(const void*, const void*, std::size_t);
void* __real_memchr(const void*, int, std::size_t);
std::size_t __real_strlen(const char*);
int __real_strcmp(const char*, const char*);
int __real_strncmp(const char*, const char*, std::size_t);
char* __real_strchr(const char*, int);

int __wrap_memcmp(const void* left, const void* right, std::size_t bytes) {
  if (bytes != 0) on_read(left, bytes, HERE);
  if (bytes != 0) on_read(right, bytes, HERE);
  return __real_memcmp(left, right, bytes);
}
void* __wrap_memchr(const void* in, int value, std::size_t bytes) {
  if (bytes != 0) on_read(in, bytes, HERE);
  return __real_memchr(in, value, bytes);
}
std::size_t __wrap_strlen(const char* text) {
  on_read(text, __real_strlen(text) + 1, HERE);
  return __real_strlen(text);
}
int __wrap_strcmp(const char* left, const char* right) {
  on_read(left, __real_strlen(left) + 1, HERE);
  on_read(right, __real_strlen(right) + 1, HERE);
  return __real_strcmp(left, right);
}
int __wrap_strncmp(const char* left, const char* right, std::size_t bytes) {
  for (const char* text : {left, right}) {
    const auto* end = static_cast<const char*>(__real_memchr(text, 0, bytes));
    const std::size_t read = end ? static_cast<std::size_t>(end - text) + 1 : bytes;
    if (read != 0) on_read(text, read, HERE);
  }
  return __real_strncmp(left, right, bytes);
}
char* __wrap_strchr(const char* text, int value) {
  on_read(text, __real_strlen(text) + 1, HERE);
  return __real_strchr(text, value);
}

// Mathematics that stores a part of its result through a pointer.
#define RACECHECK_STORES_A_PART(name, number, parameters, part, arguments) \
  number __real_##name parameters;                                         \
  number __wrap_##name parameters {                                        \
    on_write(part, sizeof *part, HERE);                                    \
    return __real_##name arguments;                                        \
  }
#define RACECHECK_MATHEMATICS(suffix, number)                                                  \
  RACECHECK_STORES_A_PART(modf##suffix, number, (number x, number * whole), whole, (x, whole)) \
  RACECHECK_STORES_A_PART(frexp##suffix, number, (number x, int* power), power, (x, power))    \
  RACECHECK_STORES_A_PART(remquo##suffix, number, (number x, number y, int* bits), bits,       \
                          (x, y, bits))                                                        \
  void __real_sincos##suffix(number x, number* sine, number* cosine);                          \
  void __wrap_sincos##suffix(number x, number* sine, number* cosine) {                         \
    on_write(sine, sizeof *sine, HERE);                                                        \
    on_write(cosine, sizeof *cosine, HERE);                                                    \
    __real_sincos##suffix(x, sine, cosine);                                                    \
  }
RACECHECK_MATHEMATICS(, double)
RACECHECK_MATHEMATICS(f, float)

}  // extern "C"

// ---- What the sanitizer calls instead of the compiler's own atomics: std::atomic
// and the __atomic_ built-in functions, in kernels and in host code. (CUDA's atomics and
// cuda::atomic come by way of the backend's observer, with their scope.) In a kernel they count as
// atomics of the whole system.

using atomic_access_kind = cpu_backend::observer::access;

namespace {

// The compiler's numbers of the memory orders.
enum order { relaxed, consume, acquire, release, acq_rel, seq_cst };

// They all read the newest value, loads too: their fence is only told of in done().
void begins(const volatile void* address, std::size_t bytes) {
  cpu_backend::observer::atomic_begins(const_cast<const void*>(address), bytes,
                                       atomic_access_kind::update);
}

void done(const volatile void* address, unsigned bytes, atomic_access_kind kind, int with,
          bool changed, const void* from) {
  const bool acquires = kind != atomic_access_kind::store && with != relaxed && with != release;
  const bool releases =
      kind != atomic_access_kind::load && (with == release || with == acq_rel || with == seq_cst);
  if (!running_thread) {
    return racecheck::on_host_atomic(const_cast<const void*>(address), bytes, kind, acquires,
                                     releases, from);
  }
  {
    const checker_synchronizes now;
    racecheck::event_consumer& consumer = racecheck::consumer();
    if (with == seq_cst) {
      cpu_backend::scheduled::fence_done(fence_kind::sequentially_consistent, scope::device);
      consumer.fenced(now.thread(), scope::device, fence_kind::sequentially_consistent,
                      racecheck::place_of(from));
    }
    cpu_backend::observer::atomic_operation operation;
    operation.address =
        const_cast<const std::byte*>(static_cast<const volatile std::byte*>(address));
    operation.bytes = bytes;
    operation.kind = kind;
    operation.acquires = acquires;
    operation.releases = releases;
    consumer.atomic_done(now.thread(), operation, racecheck::place_of(from));
  }
  cpu_backend::scheduled::strong_access_done(
      const_cast<const void*>(address), bytes, kind, changed,
      cpu_backend::scheduled::order_in_words(acquires, releases, scope::device));
  cpu_backend::scheduled::accessed(changed, from);
}

}  // namespace

extern "C" {

void __tsan_atomic_thread_fence(int with) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!racecheck::running_thread || with == relaxed) return;
  if (with == seq_cst) cpu_backend::scheduled::sc_fence_begins();
  const checker_synchronizes now;
  const fence_kind kind = with == seq_cst   ? fence_kind::sequentially_consistent
                          : with == acq_rel ? fence_kind::acquire_release
                          : with == release ? fence_kind::release
                                            : fence_kind::acquire;
  cpu_backend::scheduled::fence_done(kind, scope::device);
  racecheck::consumer().fenced(now.thread(), scope::device, kind, racecheck::place_of(HERE));
}
void __tsan_atomic_signal_fence(int) {}

#define RACECHECK_UPDATE(bits, name)                                                      \
  std::uint##bits##_t __tsan_atomic##bits##_##name(volatile std::uint##bits##_t* address, \
                                                   std::uint##bits##_t value, int with) { \
    begins(address, bits / 8);                                                            \
    const auto old = __atomic_##name(address, value, __ATOMIC_SEQ_CST);                   \
    done(address, bits / 8, atomic_access_kind::update, with, true, HERE);                \
    return old;                                                                           \
  }
#define RACECHECK_ATOMICS(bits)                                                                   \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* address,     \
                                                 int with) {                                      \
    begins(address, bits / 8);                                                                    \
    const auto value = __atomic_load_n(address, __ATOMIC_SEQ_CST);                                \
    done(address, bits / 8, atomic_access_kind::load, with, false, HERE);                         \
    return value;                                                                                 \
  }                                                                                               \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* address,                         \
                                   std::uint##bits##_t value, int with) {                         \
    begins(address, bits / 8);                                                                    \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                           \
    done(address, bits / 8, atomic_access_kind::store, with, true, HERE);                         \
  }                                                                                               \
  std::uint##bits##_t __tsan_atomic##bits##_exchange(volatile std::uint##bits##_t* address,       \
                                                     std::uint##bits##_t value, int with) {       \
    begins(address, bits / 8);                                                                    \
    const auto old = __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                       \
    done(address, bits / 8, atomic_access_kind::update, with, true, HERE);                        \
    return old;                                                                                   \
  }                                                                                               \
  RACECHECK_UPDATE(bits, fetch_add)                                                               \
  RACECHECK_UPDATE(bits, fetch_sub)                                                               \
  RACECHECK_UPDATE(bits, fetch_and)                                                               \
  RACECHECK_UPDATE(bits, fetch_or)                                                                \
  RACECHECK_UPDATE(bits, fetch_xor)                                                               \
  RACECHECK_UPDATE(bits, fetch_nand)                                                              \
  bool __tsan_atomic##bits##_compare_exchange_strong(                                             \
      volatile std::uint##bits##_t* address, std::uint##bits##_t* expected,                       \
      std::uint##bits##_t desired, int with, int on_failure) {                                    \
    begins(address, bits / 8);                                                                    \
    const bool stored = __atomic_compare_exchange_n(address, expected, desired, false,            \
                                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
    done(address, bits / 8, stored ? atomic_access_kind::update : atomic_access_kind::load,       \
         stored ? with : on_failure, stored, HERE);                                               \
    return stored;                                                                                \
  }                                                                                               \
  bool __tsan_atomic##bits##_compare_exchange_weak(                                               \
      volatile std::uint##bits##_t* address, std::uint##bits##_t* expected,                       \
      std::uint##bits##_t desired, int with, int on_failure) {                                    \
    return __tsan_atomic##bits##_compare_exchange_strong(address, expected, desired, with,        \
                                                         on_failure);                             \
  }                                                                                               \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                 \
      volatile std::uint##bits##_t* address, std::uint##bits##_t expected,                        \
      std::uint##bits##_t desired, int with, int on_failure) {                                    \
    __tsan_atomic##bits##_compare_exchange_strong(address, &expected, desired, with, on_failure); \
    return expected;                                                                              \
  }
RACECHECK_ATOMICS(8)
RACECHECK_ATOMICS(16)
RACECHECK_ATOMICS(32)
RACECHECK_ATOMICS(64)

}  // extern "C"
