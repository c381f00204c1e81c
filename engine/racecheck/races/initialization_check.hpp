// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "racecheck/events/places.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/thread_state.hpp"
#include "racecheck/races/finding_collection.hpp"

namespace racecheck {

// A read by `by` of `bytes` bytes at `address`, all of them in `in`, which starts unwritten: it is
// a mistake if neither a kernel nor the host has written one of them. Returns whether it is.
bool check_initialization(finding_collection& findings, const thread_state& by, region& in,
                          const std::byte* address, std::size_t bytes, place_number place);

}  // namespace racecheck
