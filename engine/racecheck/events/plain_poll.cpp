// SPDX-License-Identifier: MIT
#include "racecheck/events/plain_poll.hpp"

#include <algorithm>

namespace racecheck {

std::optional<plain_poll> find_plain_poll(std::span<const logged_access> latest) {
  constexpr std::ptrdiff_t again_and_again = 3;
  std::optional<plain_poll> last;
  // The newest first. (Clang 14 does not know the views of this library.)
  for (auto newest = latest.rbegin(); newest != latest.rend(); ++newest) {
    const logged_access& each = *newest;
    if (each.writes) continue;
    if (!last) last = {each.site, false};
    const auto is_same_place = [&](const logged_access& other) {
      return other.address == each.address;
    };
    // What the thread writes by itself it does not wait for.
    const bool writes = std::ranges::any_of(
        latest, [&](const logged_access& other) { return other.writes && is_same_place(other); });
    if (!writes && std::ranges::count_if(latest, is_same_place) >= again_and_again) {
      return plain_poll{each.site, true};
    }
  }
  return last;
}

}  // namespace racecheck
