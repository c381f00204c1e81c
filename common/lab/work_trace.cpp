// SPDX-License-Identifier: MIT
#include "lab/work_trace.hpp"

#include <algorithm>
#include <map>

namespace lab {

namespace {

struct span_of_time {
  std::uint64_t first_begin = 0;
  std::uint64_t last_end = 0;
};

span_of_time whole_span(const work_trace& run) {
  span_of_time span;
  for (const trace_event& event : run.events) {
    if (event.end_ns == 0) continue;
    const bool is_first = span.last_end == 0;
    span.first_begin = is_first ? event.begin_ns : std::min(span.first_begin, event.begin_ns);
    span.last_end = std::max(span.last_end, event.end_ns);
  }
  return span;
}

}  // namespace

std::vector<recorded_item> recorded_items(const work_trace& run) {
  std::vector<recorded_item> items;
  for (std::size_t item = 0; item < run.events.size(); ++item) {
    if (run.events[item].end_ns != 0) items.push_back({.item = item, .event = run.events[item]});
  }
  std::stable_sort(items.begin(), items.end(), [](const auto& x, const auto& y) {
    return x.event.begin_ns < y.event.begin_ns;
  });
  // A block keeps its slot from item to item, as long as no other has taken it meanwhile; so each
  // multiprocessor knows when each slot is free again, and who had it last.
  struct slot_state {
    std::uint64_t free_from;
    std::uint32_t last_block;
  };
  std::map<std::uint32_t, std::vector<slot_state>> slots_of;
  for (recorded_item& each : items) {
    std::vector<slot_state>& slots = slots_of[each.event.multiprocessor];
    const auto is_free = [&each](const slot_state& slot) {
      return slot.free_from <= each.event.begin_ns;
    };
    auto chosen = std::find_if(slots.begin(), slots.end(), [&](const slot_state& slot) {
      return is_free(slot) && slot.last_block == each.event.block;
    });
    if (chosen == slots.end()) chosen = std::find_if(slots.begin(), slots.end(), is_free);
    if (chosen == slots.end()) chosen = slots.insert(slots.end(), {0, 0});
    *chosen = {each.event.end_ns, each.event.block};
    each.slot = static_cast<std::uint32_t>(chosen - slots.begin());
  }
  return items;
}

double makespan_ms(const work_trace& run) {
  const span_of_time span = whole_span(run);
  return static_cast<double>(span.last_end - span.first_begin) / 1e6;
}

double busy_fraction(const work_trace& run) {
  double busy_ms = 0;
  for (const trace_event& event : run.events) {
    if (event.end_ns != 0) busy_ms += static_cast<double>(event.end_ns - event.begin_ns) / 1e6;
  }
  const double all = makespan_ms(run) * run.multiprocessors * run.slots;
  return all > 0 ? busy_ms / all : 0;
}

}  // namespace lab
