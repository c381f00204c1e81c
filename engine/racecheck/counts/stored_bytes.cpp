// SPDX-License-Identifier: MIT
#include "racecheck/counts/stored_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace racecheck {
namespace {

// Allocations: among the variables of a program are those of the runtime, which change by
// themselves.
// What a kernel has allocated itself may be gone before the launch ends.
bool is_compared(const region& each) {
  if (each.allocated_at != 0) return false;
  return each.what == region::kind::global || each.what == region::kind::managed ||
         each.what == region::kind::pinned;
}

std::uint64_t unseen_in(const region& now, const std::vector<std::byte>& before,
                        const std::vector<bool>& is_stored) {
  if (std::memcmp(now.begin, before.data(), now.bytes) == 0) return 0;
  std::uint64_t unseen = 0;
  for (std::size_t i = 0; i < now.bytes; ++i) {
    unseen += now.begin[i] != before[i] && !is_stored[i];
  }
  return unseen;
}

}  // namespace

void stored_bytes::launch_begins(shadow_memory& memory) {
  regions_.clear();
  is_compared_ = memory.bytes() <= most_bytes;
  if (!is_compared_) return;
  memory.each_region([&](const region& each) {
    if (!is_compared(each)) return;
    regions_[&each] = {{each.begin, each.begin + each.bytes}, std::vector<bool>(each.bytes)};
  });
}

void stored_bytes::stored(const region& in, const std::byte* address, std::size_t bytes) {
  const auto found = regions_.find(&in);
  if (found == regions_.end()) return;
  const auto first = found->second.is_stored.begin() + (address - in.begin);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), true);
}

std::optional<std::uint64_t> stored_bytes::unseen() const {
  if (!is_compared_) return std::nullopt;
  std::uint64_t unseen = 0;
  for (const auto& [each, before] : regions_) {
    unseen += unseen_in(*each, before.content, before.is_stored);
  }
  return unseen;
}

}  // namespace racecheck
