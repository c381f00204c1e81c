// SPDX-License-Identifier: MIT
#include "racecheck/events/host_access.hpp"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/source_line.hpp"
#include "racecheck/events/event_consumer.hpp"

namespace racecheck {

constinit device_addresses all_device_memory;
constinit __thread unsigned accesses_by_runtime = 0;

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

[[noreturn]] void end_program(bool writes) {
  cpu_backend::diagnostic what("host_access");
  what.add("access", writes ? "write" : "read");
  what.add("at", cpu_backend::line_of(cpu_backend::call_stack::here()));
  std::fflush(stdout);
  cpu_backend::report(what);
  std::exit(1);
}

}  // namespace

void check_host_access(const std::byte* address, bool writes) {
  static constinit __thread bool is_ending = false;  // what the program does at its end is let be
  if (accesses_by_runtime != 0 || is_ending || !device_memory::instance().holds(address)) return;
  is_ending = true;
  end_program(writes);
}

void note_early_access(const std::byte* address) {
  if (accesses_by_runtime != 0) return;
  const region* const in = consumer().memory().find(address);
  if (!in) return;
  // The program's variables are managed ones, and the host's own: no kernel comes to those.
  const cell& there = in->cell_at(address);
  const bool kernels_use_it = there.write.marks() != 0 || there.read != cell_record{};
  if (in->what != region::kind::managed && !kernels_use_it) return;
  cpu_backend::scheduled::used("host", "early_access", nullptr);
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
