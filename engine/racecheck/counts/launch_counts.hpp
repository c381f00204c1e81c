// SPDX-License-Identifier: MIT
// What a launch did, in numbers: what the limits of an exercise are held to.
//
// An access is what the compiler hands over as one: see docs/internals/racecheck.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cpu_backend/observer.hpp"
#include "racecheck/counts/loaded_bytes.hpp"

namespace racecheck {

// What is counted for each thread.
enum class event : unsigned {
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic,
  fence,
};
inline constexpr std::size_t kinds_of_events = 7;

// One number for each kind of event.
class event_counts {
 public:
  std::uint64_t& operator[](event of) { return counts_[static_cast<unsigned>(of)]; }
  std::uint64_t operator[](event of) const { return counts_[static_cast<unsigned>(of)]; }
  void add(const event_counts& other);
  // Each number becomes the larger one of the two.
  void raise_to(const event_counts& other);

 private:
  std::array<std::uint64_t, kinds_of_events> counts_{};
};

// What one block did, or all of them.
struct group_counts {
  event_counts events;
  std::uint64_t global_bytes_loaded = 0;
  std::uint64_t global_bytes_stored = 0;
  std::uint64_t block_barriers = 0;
  std::uint64_t warp_barriers = 0;
  std::uint64_t grid_barriers = 0;

  void add(const group_counts& other);
  void raise_to(const group_counts& other);
};

struct launch_counts {
  cpu_backend::observer::launch launch;
  bool completed = false;  // not if the kernel died, or runs still
  std::uint64_t blocks_begun = 0;
  std::size_t dynamic_shared_bytes = 0;  // of each block
  std::size_t static_shared_bytes = 0;   // the most that one block used
  group_counts total;
  group_counts most_per_block;
  event_counts most_per_thread;
  // Of global memory, changed by the launch and by no store that was seen; see stored_bytes.hpp.
  std::optional<std::uint64_t> unseen_bytes_stored;
  // Empty unless somebody watches the loads.
  loaded_pieces loaded;
};

}  // namespace racecheck
