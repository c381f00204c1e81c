// SPDX-License-Identifier: MIT
// An atomic or volatile load gets an older value, as far as CUDA's memory model lets it: no write
// that is later in its word's order happens before the load, or before a strong read of that write
// that happens before it. A word's order is that in which its writes are executed. Why the
// executions are some of those that PTX allows: docs/internals/weak.md.
//
// Before the load the value is put into memory, and is taken away again before anything else looks
// at memory, as weak_memory does for plain reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "racecheck/memory/cell.hpp"
#include "racecheck/order/launch_clocks.hpp"

namespace racecheck {

class older_loads {
 public:
  explicit older_loads(const launch_clocks& clocks) : clocks_(clocks) {}

  // The process's one, once it is turned on; until then all loads get the newest value.
  static inline constinit older_loads* active = nullptr;
  void turn_on() { active = this; }
  // From here on what a load gets is drawn. Until then the first load of a word that may get an
  // older value gets the oldest one, the next such load the newest one, and so on.
  void draw_values(std::uint64_t seed);

  void begin_launch();
  // First, before an atomic or volatile access is made, with at most 16 bytes.
  void access_begins(const std::byte* address, std::size_t bytes);
  // That was a write, whose location hands `last` over now.
  void written(const message& last, cell_record made);
  // A plain write: nobody gets what was there before.
  void forget(std::uint32_t location) {
    if (const auto found = words_.find(location); found != words_.end()) found->second = {};
  }
  // How many writes the load that comes now passes. `last` is what its location hands over.
  unsigned pass_writes(const block_state& block, const thread_state& by, const message& last,
                       std::byte* address, std::size_t bytes);
  // Takes away what pass_writes() has put into memory.
  void put_back();

  // How many loads have got an older value.
  std::uint64_t count() const { return count_; }

 private:
  using value = std::array<std::byte, sizeof(std::uint64_t)>;
  struct write {
    cell_record made;
    observation seen;  // by whoever reads it
    value before{};
  };
  struct word {
    std::vector<write> writes;  // the last ones: of no more than the clocks keep the messages
    std::uint64_t count = 0;    // of all
    bool next_is_newest = false;
  };

  const launch_clocks& clocks_;
  std::unordered_map<std::uint32_t, word> words_;  // by location; the same as the clocks have
  // How many writes of a location there were when a thread got an older value of it. From then on
  // it passes none of these: a loop that waits goes on.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> looked_;
  value before_access_{};
  std::byte* replaced_ = nullptr;
  std::size_t replaced_bytes_ = 0;
  value newest_{};  // what was there
  std::uint64_t random_ = 1;
  bool draws_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace racecheck
