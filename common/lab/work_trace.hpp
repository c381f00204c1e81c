// SPDX-License-Identifier: MIT
// Which multiprocessor worked on which item, and when: what a traced run leaves behind. No CUDA
// here; trace.cuh records it in a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lab {

// One item's time on the device. An event whose end is 0 was never recorded.
struct trace_event {
  std::uint64_t begin_ns = 0;  // On the device's clock, the same for all multiprocessors.
  std::uint64_t end_ns = 0;
  std::uint32_t multiprocessor = 0;
  std::uint32_t block = 0;  // That worked on the item.
};

// A traced run of one variant.
struct work_trace {
  std::string variant;
  std::vector<trace_event> events;    // Event i is item i's.
  std::uint32_t multiprocessors = 0;  // Of the device.
  // Items that one multiprocessor can work on at the same time: its resident blocks, or the warps
  // of those where each warp has an item of its own.
  std::uint32_t slots = 1;
};

// A recorded event with the row in which a picture shows it: rows of one multiprocessor are
// neighbours, and bars of one row do not overlap.
struct recorded_item {
  std::size_t item = 0;
  trace_event event;
  std::uint32_t slot = 0;  // From 0; below work_trace::slots unless the device ran more at once.
};

// The recorded events by their begin.
std::vector<recorded_item> recorded_items(const work_trace& run);

// Milliseconds from the first begin to the last end; 0 where nothing was recorded.
double makespan_ms(const work_trace& run);

// The part of the slots' time, from the first begin to the last end, in which they had an item: the
// sum of all items' times / (multiprocessors * slots * makespan). 0 where nothing was recorded.
double busy_fraction(const work_trace& run);

// All runs as Chrome trace events (the "Trace Event Format", JSON object form), which Perfetto and
// chrome://tracing open: a process for each variant, a row for each slot of a multiprocessor, a bar
// for each item. All variants begin at 0. "otherData" has makespan and busy fraction of each.
std::string chrome_trace(const std::vector<work_trace>& runs);

}  // namespace lab
