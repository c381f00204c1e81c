// SPDX-License-Identifier: MIT
// A thread whose launch did not end, and that seems to wait for another one by plain reads: no such
// read need ever get what the other one writes.
#pragma once

#include <optional>
#include <span>

#include "cpu_backend/execution/kernel_fault.hpp"
#include "racecheck/events/event_consumer.hpp"

namespace racecheck {

struct plain_poll {
  site_number read = 0;  // the place of the read
  // The loop reads the same bytes again and again. Otherwise it does not read at all: this was the
  // thread's last read, and the compiler may have moved it out of the loop.
  bool reads_again = false;
};

// `latest`: what the thread has done last, all of it plain accesses, the oldest first.
std::optional<plain_poll> find_plain_poll(std::span<const logged_access> latest);

// Says so to the student, on stderr. report/plain_poll_report.cpp has the words.
void report(const plain_poll& poll, const cpu_backend::kernel_fault& stopped);

}  // namespace racecheck
