// SPDX-License-Identifier: MIT
// Memory that kernels get by malloc() or new. The linker hands these functions over (--wrap); for
// the host they stay what they are. A kernel's block of memory has shadow memory until it is freed,
// and for a while afterwards, so that a use of freed memory is seen.

#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "cpu_backend/runtime/work_order.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/access_log.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/host_access.hpp"
#include "racecheck/events/places.hpp"

extern "C" {
void* __real_malloc(std::size_t);
void __real_free(void*);
void* __real_memset(void*, int, std::size_t);
}

// By this name its own calls of the heap are told from a kernel's (is_in_own_function).
namespace racecheck {
namespace {

// Bytes on each side that belong to nothing.
constexpr std::size_t margin = 64;
constexpr std::size_t most_freed_bytes = std::size_t{64} << 20, most_freed_blocks = 256;

struct block {  // with its margins
  void* memory = nullptr;
  std::size_t bytes = 0;
};

struct heap {
  std::map<const void*, block> blocks;
  std::deque<std::pair<const void*, block>> freed;  // the oldest first
  std::size_t freed_bytes = 0;

  // Never destroyed: static objects of the program may still free memory of theirs.
  static heap& instance() {
    static auto* const only = new heap;
    return *only;
  }
  bool was_freed(const void* begin) const {
    return std::any_of(freed.begin(), freed.end(),
                       [&](const auto& each) { return each.first == begin; });
  }
};
constinit bool has_blocks = false;  // or had some

// The host's own threads free memory, too; and so does the heap itself for its tables.
class alone_with_heap {
 public:
  alone_with_heap() : lock_(mutex()) { works = true; }
  ~alone_with_heap() { works = false; }
  alone_with_heap(const alone_with_heap&) = delete;
  alone_with_heap& operator=(const alone_with_heap&) = delete;
  static constinit __thread bool works;

 private:
  static std::mutex& mutex() {
    static auto* const only = new std::mutex;
    return *only;
  }
  const cpu_backend::observer::runtime_access now_;  // the lock is none of the program's
  const std::lock_guard<std::mutex> lock_;
};
constinit __thread bool alone_with_heap::works = false;

// The backend's own functions run on the kernel's thread, too.
bool is_kernels(const void* from) {
  if (!running_thread) return false;
  const checker_works now;
  static auto& known = *new std::map<const void*, bool>;
  const auto [entry, is_new] = known.try_emplace(from);
  if (is_new) entry->second = is_in_own_function(static_cast<const char*>(from) - 1);
  return entry->second;
}

void* allocate(std::size_t wanted, std::size_t alignment, const void* from) {
  const checker_synchronizes now;
  cpu_backend::scheduled::used("memory", "kernel_heap", from);  // which may also have no room
  const std::size_t bytes = std::max<std::size_t>(wanted, 1);
  const std::size_t before = std::max(margin, alignment);
  if (bytes > SIZE_MAX / 2) return nullptr;
  const std::size_t all = (before + bytes + margin + before - 1) / before * before;
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(before, all));
  if (!memory) return nullptr;
  constexpr int unknown = 0xCD;  // What a GPU leaves there; here it is the same in every run.
  __real_memset(memory, unknown, all);
  std::byte* const begin = memory + before;
  consumer().memory().add_allocation({begin, bytes}, memory, all, place_of(from));
  device_memory_appears(begin, bytes);
  const alone_with_heap alone;
  heap::instance().blocks[begin] = {memory, all};
  has_blocks = true;
  return begin;
}

void* allocate_or_throw(std::size_t wanted, std::size_t alignment, const void* from) {
  void* const made = allocate(wanted, alignment, from);
  if (!made) throw std::bad_alloc();
  return made;
}

// False if it is no block of a kernel.
bool free_block(void* begin, const void* from) {
  // What the device may still use must be done before; the host's use of it is a write, too. Not so
  // where a worker of the backend frees what is its own, while the host waits for it.
  static const pthread_t first_thread = pthread_self();
  if (!running_thread && begin && cpu_backend::work_order::host_is_ahead &&
      pthread_equal(pthread_self(), first_thread)) {
    on_host_access(begin, malloc_usable_size(begin), from, true);
  }
  if (!has_blocks || !begin || alone_with_heap::works) return false;
  bool is_known = false, was_freed = false;
  {
    const alone_with_heap alone;
    is_known = heap::instance().blocks.contains(begin);
    was_freed = !is_known && heap::instance().was_freed(begin);
  }
  if (!is_known && !was_freed) return false;
  auto* const address = static_cast<const std::byte*>(begin);
  if (running_thread) {
    // To free memory is to write all of it: what still uses it must be before.
    const region* const in = consumer().memory().find(address);
    plain_accesses.add(address, in ? in->bytes : 1, from, true);
  }
  if (was_freed) return true;  // That write was reported.
  const checker_synchronizes now;
  device_memory_disappears(address);
  consumer().memory().free_allocation(address, place_of(from));
  const alone_with_heap alone;
  heap& of_kernels = heap::instance();
  const block held = of_kernels.blocks[begin];
  of_kernels.blocks.erase(begin);
  of_kernels.freed.emplace_back(begin, held);
  of_kernels.freed_bytes += held.bytes;
  while (of_kernels.freed.size() > most_freed_blocks || of_kernels.freed_bytes > most_freed_bytes) {
    const auto [oldest, last_held] = of_kernels.freed.front();
    consumer().memory().forget_freed(oldest);
    of_kernels.freed_bytes -= last_held.bytes;
    __real_free(last_held.memory);
    of_kernels.freed.pop_front();
  }
  return true;
}

}  // namespace
}  // namespace racecheck

using racecheck::allocate;
using racecheck::allocate_or_throw;
using racecheck::free_block;
using racecheck::is_kernels;

#define HERE __builtin_return_address(0)

extern "C" {

void* __wrap_malloc(std::size_t bytes) {
  if (!is_kernels(HERE)) return __real_malloc(bytes);
  return allocate(bytes, alignof(std::max_align_t), HERE);
}
void __wrap_free(void* begin) {
  if (!free_block(begin, HERE)) __real_free(begin);
}

// As the compiler names the forms of operator new and operator delete.
#define RACECHECK_NEW(name)                                           \
  void* __real_##name(std::size_t);                                   \
  void* __wrap_##name(std::size_t bytes) {                            \
    if (!is_kernels(HERE)) return __real_##name(bytes);               \
    return allocate_or_throw(bytes, alignof(std::max_align_t), HERE); \
  }
#define RACECHECK_ALIGNED_NEW(name)                                             \
  void* __real_##name(std::size_t, std::align_val_t);                           \
  void* __wrap_##name(std::size_t bytes, std::align_val_t alignment) {          \
    if (!is_kernels(HERE)) return __real_##name(bytes, alignment);              \
    return allocate_or_throw(bytes, static_cast<std::size_t>(alignment), HERE); \
  }
#define RACECHECK_DELETE(name, parameters, ...)               \
  void __real_##name parameters;                              \
  void __wrap_##name parameters {                             \
    if (!free_block(begin, HERE)) __real_##name(__VA_ARGS__); \
  }
RACECHECK_NEW(_Znwm)
RACECHECK_NEW(_Znam)
RACECHECK_ALIGNED_NEW(_ZnwmSt11align_val_t)
RACECHECK_ALIGNED_NEW(_ZnamSt11align_val_t)
RACECHECK_DELETE(_ZdlPv, (void* begin), begin)
RACECHECK_DELETE(_ZdaPv, (void* begin), begin)
RACECHECK_DELETE(_ZdlPvm, (void* begin, std::size_t bytes), begin, bytes)
RACECHECK_DELETE(_ZdaPvm, (void* begin, std::size_t bytes), begin, bytes)
RACECHECK_DELETE(_ZdlPvSt11align_val_t, (void* begin, std::align_val_t to), begin, to)
RACECHECK_DELETE(_ZdaPvSt11align_val_t, (void* begin, std::align_val_t to), begin, to)
RACECHECK_DELETE(_ZdlPvmSt11align_val_t, (void* begin, std::size_t bytes, std::align_val_t to),
                 begin, bytes, to)
RACECHECK_DELETE(_ZdaPvmSt11align_val_t, (void* begin, std::size_t bytes, std::align_val_t to),
                 begin, bytes, to)

}  // extern "C"
