// SPDX-License-Identifier: MIT
#include "racecheck/races/host_memory.hpp"

#include <algorithm>
#include <mutex>

#include "cpu_backend/observer.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/host_access.hpp"

namespace racecheck {

void host_memory::check(const std::vector<use>& uses, const use& now,
                        const cpu_backend::work_clock& after, const void* from) {
  for (const use& other : uses) {
    const bool conflicts = other.writes || now.writes;
    if (conflicts && other.by != now.by && !after.covers(other.by)) {
      cpu_backend::scheduled::used("host", other.denied, from);
    }
  }
}

void host_memory::access(const host_access& what, const char* denied) {
  if (!denied && uses_.empty()) return;
  // A function's own variables: on a GPU's host it has a thread, and a stack, of its own.
  if (denied && cpu_backend::work_order::is_on_stack_of_callback(what.address)) return;
  const cpu_backend::work by = cpu_backend::work_order::host();
  const use now{by.is, what.writes, denied};
  const auto begin = reinterpret_cast<std::uintptr_t>(what.address);
  for (auto word = begin / word_bytes; word <= (begin + what.bytes - 1) / word_bytes; ++word) {
    if (!denied && !uses_.contains(word)) continue;
    auto& uses = uses_[word];
    check(uses, now, by.after, what.from);
    if (!denied) continue;
    // One of each kind is enough of a work: a later one is after more.
    std::erase_if(uses,
                  [&](const use& each) { return each.by == now.by && each.writes == now.writes; });
    uses.push_back(now);
  }
}

void host_memory::copy_reads(const cpu_backend::work& by, const std::byte* at, std::size_t bytes) {
  const use now{by.is, false, "pageable"};
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  for (auto word = begin / word_bytes; word <= (begin + bytes - 1) / word_bytes; ++word) {
    auto& uses = uses_[word];
    check(uses, now, by.after, nullptr);
    uses.push_back(now);
  }
}

void note_access_of_thread(const host_access& by) {
  static std::mutex one_at_a_time;
  static auto& memory = *new host_memory;
  if (accesses_by_runtime != 0 || by.is_atomic) return;
  const cpu_backend::observer::runtime_access now;
  const std::lock_guard lock(one_at_a_time);
  memory.access(by, "two_threads");
}

void note_turn_of_thread(const void* object, const void* from) {
  struct turns {
    std::vector<cpu_backend::work_position> all;
    unsigned unordered = 0;  // pairs of them
  };
  static std::mutex one_at_a_time;
  static auto& turns_at = *new std::unordered_map<const void*, turns>;
  if (!watches_host_threads || accesses_by_runtime != 0) return;
  const cpu_backend::observer::runtime_access now;
  const std::lock_guard lock(one_at_a_time);
  const cpu_backend::work by = cpu_backend::work_order::host();
  auto& [all, unordered] = turns_at[object];
  const auto is_ordered = [&](const cpu_backend::work_position& of) {
    return of.timeline == by.is.timeline || by.after.covers(of);
  };
  const auto ordered = std::count_if(all.begin(), all.end(), is_ordered);
  unordered += static_cast<unsigned>(all.size() - static_cast<std::size_t>(ordered));
  // The two orders of one pair are run: host_threads.cpp.
  if (unordered > 1) cpu_backend::scheduled::used("host", "thread_order", from);
  if (ordered > 1) all.erase(std::find_if(all.begin(), all.end(), is_ordered));
  all.push_back(by.is);
}

}  // namespace racecheck
