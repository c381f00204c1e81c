// SPDX-License-Identifier: MIT
// What an OS thread of the device plays: here all multiprocessors in turn.
#pragma once

#include <cstdint>

#include "cpu_backend/scheduled/dispatcher.hpp"

namespace cpu_backend {

using player = dispatcher;

// How many of them a launch takes.
constexpr std::uint64_t players_of(const grid&) { return 1; }

}  // namespace cpu_backend
