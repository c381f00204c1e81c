// SPDX-License-Identifier: MIT
#include "racecheck/events/host_access.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/runtime/work_queue.hpp"
#include "racecheck/events/event_consumer.hpp"
#include "racecheck/events/places.hpp"

namespace racecheck {

constinit cpu_backend::scheduled::span_of_memory all_device_memory;
constinit cpu_backend::scheduled::span_of_memory copied_unwritten;
constinit __thread unsigned accesses_by_runtime = 0;
constinit bool watches_host_threads = false;

namespace {

// Allocated by any host thread, and used by all of them.
struct device_memory {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> bytes_at;

  // Never destroyed: static objects of the program may still free memory of theirs.
  static device_memory& instance() {
    static auto* const only = new device_memory;
    return *only;
  }
  bool holds(const std::byte* address) {
    const std::lock_guard lock(mutex);
    const auto after = bytes_at.upper_bound(address);
    if (after == bytes_at.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return static_cast<std::size_t>(address - begin) < bytes;
  }
};

struct copied_bytes {
  std::mutex mutex;
  std::map<const std::byte*, std::byte> value_at;

  static copied_bytes& instance() {
    static auto* const only = new copied_bytes;
    return *only;
  }
};

// From a host thread's atomic to what is noted of its order: another one that sees its value in
// between would not know what came before it.
constinit std::atomic_flag one_is_in_host_atomic;
constinit __thread bool is_in_host_atomic = false;

// Ends the program by this diagnostic if the access, by a host thread, is one that a GPU does not
// survive.
template <class IsMistake>
void end_program_if(const char* kind, bool writes, IsMistake is_mistake) {
  static constinit __thread bool is_ending = false;  // what the program does at its end is let be
  if (accesses_by_runtime != 0 || is_ending) return;
  const cpu_backend::observer::runtime_access now;  // a lock of ours is none of the program's
  if (!is_mistake()) return;
  is_ending = true;
  cpu_backend::diagnostic what(kind);
  what.add("access", writes ? "write" : "read");
  what.add("at", cpu_backend::line_of(cpu_backend::call_stack::here()));
  std::fflush(stdout);
  cpu_backend::report(what);
  std::exit(1);
}

}  // namespace

void check_host_access(const std::byte* address, bool writes) {
  end_program_if("host_access", writes, [&] { return device_memory::instance().holds(address); });
}

void check_host_variable(const std::byte* address, bool writes) {
  end_program_if("host_variable", writes,
                 [&] { return cpu_backend::scheduled::is_variable_of_device_alone(address); });
}

void note_copied_byte(const std::byte* at, bool is_unwritten) {
  if (!is_unwritten && copied_unwritten.bytes == 0) return;
  copied_bytes& known = copied_bytes::instance();
  const std::lock_guard lock(known.mutex);
  if (!is_unwritten) {
    known.value_at.erase(at);
    return;
  }
  known.value_at[at] = *at;
  const std::byte* const lowest = known.value_at.begin()->first;
  copied_unwritten = {lowest,
                      static_cast<std::size_t>(known.value_at.rbegin()->first - lowest) + 1};
}

void check_copied_bytes(const std::byte* address, std::size_t bytes, const void* from,
                        bool writes) {
  if (accesses_by_runtime != 0) return;
  const cpu_backend::observer::runtime_access now;
  copied_bytes& known = copied_bytes::instance();
  bool is_used = false;
  {
    const std::lock_guard lock(known.mutex);
    const auto first = known.value_at.lower_bound(address);
    const auto end = known.value_at.lower_bound(address + bytes);
    for (auto each = first; each != end; ++each) {
      is_used = is_used || (!writes && each->second == *each->first);
    }
    known.value_at.erase(first, end);
  }
  if (is_used) consumer().host_uses_unwritten(place_of(from));
}

void note_early_access(const host_access& by) {
  if (accesses_by_runtime != 0) return;
  const cpu_backend::observer::runtime_access now;
  // What the host does while a kernel of another host thread runs is not seen.
  const auto lock = cpu_backend::work_order::lock_device_without_work();
  if (!lock) return;
  consumer().host_accesses(by);
  if (by.writes) cpu_backend::scheduled::others_change_memory();
  // It may wait for a kernel that waits for it.
  if (by.is_strong()) cpu_backend::work_queue::go_on();
}

void host_atomic_begins() {
  if (accesses_by_runtime != 0 || is_in_host_atomic) return;  // its loop tries again
  while (one_is_in_host_atomic.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  is_in_host_atomic = true;
}

void on_host_atomic(const void* address, std::size_t bytes, cpu_backend::observer::access kind,
                    bool acquires, bool releases, const void* from, const cpu_backend::place* at) {
  // The backend's and the checker's own, which may call code of the standard library that the
  // program has brought: it orders nothing of the program's.
  if (accesses_by_runtime != 0) return;
  using cpu_backend::observer::access;
  if (kind != access::load) note_turn_of_thread(address, from);
  if (releases) cpu_backend::work_order::host_releases(address);
  if (acquires) cpu_backend::work_order::host_acquires(address);
  if (is_in_host_atomic) {
    is_in_host_atomic = false;
    one_is_in_host_atomic.clear(std::memory_order_release);
  }
  on_host_access({.address = static_cast<const std::byte*>(address),
                  .bytes = bytes,
                  .from = from,
                  .writes = kind != access::load,
                  .is_atomic = true,
                  .acquires = acquires,
                  .releases = releases,
                  .is_update = kind == access::update,
                  .at = at});
}

void device_memory_appears(const std::byte* begin, std::size_t bytes) {
  device_memory& known = device_memory::instance();
  const std::lock_guard lock(known.mutex);
  known.bytes_at[begin] = bytes;
  const std::byte* const lowest = known.bytes_at.begin()->first;
  const auto& [last, bytes_of_last] = *known.bytes_at.rbegin();
  all_device_memory = {lowest, static_cast<std::size_t>(last + bytes_of_last - lowest)};
}

void device_memory_disappears(const std::byte* begin) {
  device_memory& known = device_memory::instance();
  const std::lock_guard lock(known.mutex);
  known.bytes_at.erase(begin);
}

}  // namespace racecheck
