// SPDX-License-Identifier: MIT
// What the compiler's thread sanitizer calls instead of the compiler's own atomics: std::atomic
// and the __atomic_ built-in functions, in kernels and in host code. (CUDA's atomics and
// cuda::atomic come by way of the backend's observer, with their scope.) In a kernel they count as
// atomics of the whole system.
#include <atomic>
#include <cstdint>

#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/places.hpp"

using atomic_access_kind = cpu_backend::observer::access;
using racecheck::scope;

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
  if (!racecheck::running_thread) return;
  {
    const racecheck::checker_synchronizes now;
    racecheck::event_consumer& consumer = racecheck::consumer();
    if (with == seq_cst) {
      cpu_backend::scheduled::fence_done(true, scope::device);
      consumer.fenced(now.thread(), scope::device, true, racecheck::place_of(from));
    }
    cpu_backend::observer::atomic_operation operation;
    operation.address =
        const_cast<const std::byte*>(static_cast<const volatile std::byte*>(address));
    operation.bytes = bytes;
    operation.kind = kind;
    operation.acquires = kind != atomic_access_kind::store && with != relaxed && with != release;
    operation.releases =
        kind != atomic_access_kind::load && (with == release || with == acq_rel || with == seq_cst);
    consumer.atomic_done(now.thread(), operation, racecheck::place_of(from));
  }
  cpu_backend::scheduled::strong_access_done(
      const_cast<const void*>(address), bytes, kind, changed,
      cpu_backend::scheduled::order_in_words(
          kind != atomic_access_kind::store && with != relaxed && with != release,
          kind != atomic_access_kind::load &&
              (with == release || with == acq_rel || with == seq_cst),
          scope::device));
  cpu_backend::scheduled::accessed(changed, from);
}

}  // namespace

#define HERE __builtin_return_address(0)

extern "C" {

void __tsan_atomic_thread_fence(int with) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!racecheck::running_thread || with == relaxed) return;
  if (with == seq_cst) cpu_backend::scheduled::sc_fence_begins();
  const racecheck::checker_synchronizes now;
  cpu_backend::scheduled::fence_done(with == seq_cst, scope::device);
  racecheck::consumer().fenced(now.thread(), scope::device, with == seq_cst,
                               racecheck::place_of(HERE));
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
