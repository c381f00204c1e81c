// SPDX-License-Identifier: MIT
#include "racecheck/counts/launch_counts.hpp"

#include <algorithm>

namespace racecheck {

void event_counts::add(const event_counts& other) {
  for (std::size_t i = 0; i < kinds_of_events; ++i) counts_[i] += other.counts_[i];
}

void event_counts::raise_to(const event_counts& other) {
  for (std::size_t i = 0; i < kinds_of_events; ++i) {
    counts_[i] = std::max(counts_[i], other.counts_[i]);
  }
}

void group_counts::add(const group_counts& other) {
  events.add(other.events);
  global_bytes_loaded += other.global_bytes_loaded;
  global_bytes_stored += other.global_bytes_stored;
  block_barriers += other.block_barriers;
  warp_barriers += other.warp_barriers;
  grid_barriers += other.grid_barriers;
}

void group_counts::raise_to(const group_counts& other) {
  const auto raise = [](std::uint64_t& most, std::uint64_t to) { most = std::max(most, to); };
  events.raise_to(other.events);
  raise(global_bytes_loaded, other.global_bytes_loaded);
  raise(global_bytes_stored, other.global_bytes_stored);
  raise(block_barriers, other.block_barriers);
  raise(warp_barriers, other.warp_barriers);
  raise(grid_barriers, other.grid_barriers);
}

}  // namespace racecheck
