// SPDX-License-Identifier: MIT
#include "racecheck/events/access_log.hpp"

#include <unistd.h>
#include <algorithm>

#include "cpu_backend/scheduled.hpp"
#include "racecheck/events/places.hpp"

namespace racecheck {

constinit time_limit time_of_program;

void time_limit::stop_for_good() {
  has_stopped_.store(true);
  for (;;) pause();
}

std::optional<plain_poll> find_plain_poll(std::span<const logged_access> latest) {
  constexpr std::ptrdiff_t again_and_again = 3;
  std::optional<plain_poll> last;
  // The newest first. (Clang 14 does not know the views of this library.)
  for (auto newest = latest.rbegin(); newest != latest.rend(); ++newest) {
    const logged_access& each = *newest;
    if (each.writes) continue;
    if (!last) last = {each.place, false};
    const auto is_same_place = [&](const logged_access& other) {
      return other.address == each.address;
    };
    // What the thread writes by itself it does not wait for.
    const bool writes = std::ranges::any_of(
        latest, [&](const logged_access& other) { return other.writes && is_same_place(other); });
    if (!writes && std::ranges::count_if(latest, is_same_place) >= again_and_again) {
      return plain_poll{each.place, true};
    }
  }
  return last;
}

constinit access_log plain_accesses;

void access_log::check() {
  time_of_program.check();
  const checker_works now;
  const unsigned count = count_;
  count_ = 0;
  if (consumer().check({logged_.data(), count})) {
    cpu_backend::scheduled::memory_changed();
  }
}

namespace {

const char* variable_at(const std::byte* address, bool writes) {
  using cpu_backend::scheduled::device_variable;
  switch (cpu_backend::scheduled::device_variable_at(address)) {
    case device_variable::variable:
      return "variable";
    case device_variable::constant:
      return writes ? "written_constant" : "constant";
    case device_variable::padding:
      return writes ? "padding" : "variable";
    case device_variable::none:
      return "host_variable";
  }
  return "unknown";
}

const char* kind_of(const region& in, const std::byte* address, bool writes) {
  switch (in.what) {
    case region::kind::global:
      return "global";
    case region::kind::managed:
      return "managed";
    case region::kind::pinned:
      return "pinned";
    case region::kind::variable:
      return variable_at(address, writes);
    case region::kind::shared:
      return "shared";
    case region::kind::dynamic_shared:
      return "dynamic_shared";
  }
  return "unknown";
}

}  // namespace

void note_memory(const std::byte* address, bool writes, const void* from) {
  namespace scheduled = cpu_backend::scheduled;
  if (scheduled::is_own_local(address) || shadow_memory::is_built_in(address)) return;
  const checker_works now;
  const region* const in = consumer().memory().find(address);
  if (!in && is_guard_variable(address)) return;
  scheduled::used("memory",
                  in                                     ? kind_of(*in, address, writes)
                  : scheduled::is_local(address)         ? "another_thread"
                  : shadow_memory::is_read_only(address) ? "read_only"
                                                         : "unknown",
                  from);
}

std::vector<logged_access> access_log::latest_of(const thread_state& by) const {
  std::vector<logged_access> latest;
  const auto add = [&](unsigned begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (logged_[i].thread == &by) latest.push_back(logged_[i]);
    }
  };
  if (was_full_) add(count_, logged_.size());
  add(0, count_);
  return latest;
}

void access_log::find(instruction& known, const std::byte* address, std::size_t bytes,
                      const void* from, bool writes) {
  const checker_works now;
  shadow_memory& memory = consumer().memory();
  if (known.from != from) known.number = index_of_place(from);
  known.from = from;
  known.in = memory.find(address);
  bool lasts = false;  // whichever block runs
  if (known.in) {
    known.last = {known.in->begin, known.in->bytes};
    if (watches_memory_) {
      note_memory(address, writes, from);
      // All of the program's variables are one region, and not all are of one kind.
      if (known.in->what == region::kind::variable) {
        const auto left = static_cast<std::size_t>(known.in->begin + known.in->bytes - address);
        known.last = {address, std::min(bytes, left)};
      }
    }
    if (writes && known.in->what == region::kind::variable) {
      consumer().variable_written(now.thread(), *known.in, address, bytes, place_at(known.number));
    }
    lasts = !known.in->is_shared_memory();
  } else if (shadow_memory::is_built_in(address) || (bytes == 1 && is_guard_variable(address))) {
    known.last = {address, 1};
    lasts = true;
  } else if (consumer().access_in_no_region(now.thread(), address, bytes, place_at(known.number),
                                            writes)) {
    known.last = {};
  } else {
    known.last = memory.nothing_around(address);
  }
  known.changes = lasts ? &memory.lasting_changes() : &memory.changes();
  known.changes_then = *known.changes;
}

void access_log::pass_to_weak_memory(const instruction& known, const std::byte* address,
                                     std::size_t bytes, bool writes) {
  const checker_works now;
  weak_memory& weak = *weak_memory::active;
  if (writes) {
    weak.write(now.thread(), *known.in, address, bytes, known.number);
  } else {
    weak.read(now.thread(), *known.in, address, bytes, known.number);
  }
}

std::size_t access_log::leaves_its_region(const std::byte* address, std::size_t bytes,
                                          std::size_t left, const void* from, bool writes) {
  const checker_works now;
  consumer().access_leaves_region(now.thread(), address, bytes, place_at(index_of_place(from)),
                                  writes);
  return left;
}

}  // namespace racecheck
