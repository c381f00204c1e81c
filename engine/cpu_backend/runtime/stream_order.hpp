// SPDX-License-Identifier: MIT
// In which order the device does the work of several streams. As a rule a launch runs at its call.
//
// With LAB_STREAM_ORDER=first (or last) in the environment, launches into streams that the program
// has created are held until something waits for them. Then the stream that was created first (or
// last) does all of its work before the next one begins, as far as events let it, and only until
// what is waited for is done: a host that waits for one stream orders no other one. CUDA allows
// these orders too, so a program without a race between streams can't tell; one that lacks an event
// gives other results in one of the two. They are some of the orders that CUDA allows, not all:
// whatever is asked of a stream besides launches and events makes it catch up first.
//
// What runs earlier than it was asked for is named on stderr:
//   stream order: sum.cu:34 runs before sum.cu:31
#pragma once

#include <cstddef>
#include <functional>

#include "cpu_backend/execution/place.hpp"
#include "driver_types.h"

namespace cpu_backend {

// A stream that the program has created; number 0 for one of the default streams.
struct created_stream {
  unsigned long long number = 0;
  bool waits_for_default = true;  // false for cudaStreamNonBlocking
};

// In streams_and_events.cpp, which has the streams.
created_stream created_stream_of(cudaStream_t stream);

// How far a stream's work has been asked for: its first `count` pieces.
struct stream_position {
  unsigned long long stream = 0;
  std::size_t count = 0;
};

// True if LAB_STREAM_ORDER is set; if not, nothing below has any effect. A bad value ends the
// program with one sentence and status 2.
bool streams_are_held();

// Adds a launch to the held work of a created stream.
void hold_launch(const created_stream& stream, const place& at, std::function<void()> launch);

// A launch into `stream` happens now: does the held work that comes before it, and says what the
// launch overtakes.
void launch_now(cudaStream_t stream, const place& at);

// What has been asked of the stream so far: for an event.
stream_position position_of(cudaStream_t stream);

// The stream goes on when that position is reached.
void wait_for_position(cudaStream_t stream, const stream_position& position);

// What is asked of `stream` next happens at the call: does the held work that comes before it.
void catch_up(cudaStream_t stream);

// The host waits for the device: does all held work.
void do_held_work();

// The host waits for this stream or position: does held work until that is done.
void do_work_of(cudaStream_t stream);
void do_work_to(const stream_position& position);

// Whether work of `stream`, or before that position, is held. If so, every third time does it: a
// loop that asks has an end.
bool is_busy(cudaStream_t stream);
bool is_busy(const stream_position& position);

void forget_held_work();

}  // namespace cpu_backend
