// SPDX-License-Identifier: MIT
#include "lab/schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "lab/json_text.hpp"

namespace lab {

namespace {

struct span_of_time {
  std::uint64_t first_begin = 0;
  std::uint64_t last_end = 0;
};

span_of_time whole_span(const schedule& run) {
  span_of_time span;
  for (const trace_event& event : run.events) {
    if (event.end_ns == 0) continue;
    const bool is_first = span.last_end == 0;
    span.first_begin = is_first ? event.begin_ns : std::min(span.first_begin, event.begin_ns);
    span.last_end = std::max(span.last_end, event.end_ns);
  }
  return span;
}

// Microseconds with all digits of the nanoseconds.
std::string microseconds(std::uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03llu",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned long long>(nanoseconds % 1000));
  return text;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", value);
  return text;
}

std::uint32_t rows_a_multiprocessor(const schedule& run, const std::vector<recorded_item>& items) {
  std::uint32_t rows = run.slots;
  for (const recorded_item& each : items) rows = std::max(rows, each.slot + 1);
  return rows;
}

}  // namespace

std::vector<recorded_item> recorded_items(const schedule& run) {
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

double makespan_ms(const schedule& run) {
  const span_of_time span = whole_span(run);
  return static_cast<double>(span.last_end - span.first_begin) / 1e6;
}

double busy_fraction(const schedule& run) {
  double busy_ms = 0;
  for (const trace_event& event : run.events) {
    if (event.end_ns != 0) busy_ms += static_cast<double>(event.end_ns - event.begin_ns) / 1e6;
  }
  const double all = makespan_ms(run) * run.multiprocessors * run.slots;
  return all > 0 ? busy_ms / all : 0;
}

std::string chrome_trace(const std::vector<schedule>& runs) {
  std::string text = "{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [";
  const char* separator = "\n";
  const auto add = [&](const std::string& event) {
    text += separator + event;
    separator = ",\n";
  };
  for (std::size_t variant = 0; variant < runs.size(); ++variant) {
    const schedule& run = runs[variant];
    const std::string process = "\"pid\": " + std::to_string(variant);
    add("{\"name\": \"process_name\", \"ph\": \"M\", " + process +
        ", \"args\": {\"name\": " + quoted(run.variant) + "}}");
    const std::uint64_t start = whole_span(run).first_begin;
    const std::vector<recorded_item> items = recorded_items(run);
    const std::uint32_t slots = rows_a_multiprocessor(run, items);
    const auto row_of = [slots](const recorded_item& each) {
      return std::uint64_t{each.event.multiprocessor} * slots + each.slot;
    };
    std::set<std::uint64_t> named_rows;
    for (const recorded_item& each : items) {
      const std::string row = process + ", \"tid\": " + std::to_string(row_of(each));
      if (named_rows.insert(row_of(each)).second) {
        std::string name = "SM " + std::to_string(each.event.multiprocessor);
        if (slots > 1) name += ", slot " + std::to_string(each.slot);
        add("{\"name\": \"thread_name\", \"ph\": \"M\", " + row +
            ", \"args\": {\"name\": " + quoted(name) + "}}");
        add("{\"name\": \"thread_sort_index\", \"ph\": \"M\", " + row +
            ", \"args\": {\"sort_index\": " + std::to_string(row_of(each)) + "}}");
      }
      add("{\"name\": \"item " + std::to_string(each.item) +
          "\", \"cat\": \"item\", \"ph\": \"X\", " + row +
          ", \"ts\": " + microseconds(each.event.begin_ns - start) +
          ", \"dur\": " + microseconds(each.event.end_ns - each.event.begin_ns) +
          ", \"args\": {\"block\": " + std::to_string(each.event.block) + "}}");
    }
  }
  text += "\n],\n\"otherData\": {\"schedules\": [";
  separator = "\n";
  for (const schedule& run : runs) {
    add("{\"variant\": " + quoted(run.variant) + ", \"multiprocessors\": " +
        std::to_string(run.multiprocessors) + ", \"rows_a_multiprocessor\": " +
        std::to_string(rows_a_multiprocessor(run, recorded_items(run))) + ", \"makespan_ms\": " +
        decimal(makespan_ms(run)) + ", \"busy_fraction\": " + decimal(busy_fraction(run)) + "}");
  }
  return text + "\n]}}\n";
}

}  // namespace lab
