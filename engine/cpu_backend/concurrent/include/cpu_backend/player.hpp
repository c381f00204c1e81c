// SPDX-License-Identifier: MIT
// What an OS thread of the device plays: here one multiprocessor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/runtime/context.hpp"

namespace cpu_backend {

using player = multiprocessor;

// How many of them a launch takes.
inline std::uint64_t players_of(const grid& launched) {
  return std::min<std::uint64_t>(launched.total_blocks, static_cast<unsigned>(number_of_sms()));
}

}  // namespace cpu_backend
