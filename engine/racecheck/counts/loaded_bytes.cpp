// SPDX-License-Identifier: MIT
#include "racecheck/counts/loaded_bytes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace racecheck {
namespace {

// Numbers of which nobody can tell one from the last: Vigna's splitmix64.
class drawn_bytes {
 public:
  explicit drawn_bytes(std::uint64_t from) : state_(from) {}

  // Any byte but 0.
  std::byte next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return static_cast<std::byte>(1 + (mixed ^ mixed >> 31) % 255);
  }

 private:
  std::uint64_t state_;
};

// As in stored_bytes: of the program's variables some are the runtime's.
// What a kernel has allocated itself may be gone before the launch ends.
bool is_changed_at_all(const region& each) {
  if (each.allocated_at != 0) return false;
  return each.what == region::kind::global || each.what == region::kind::managed ||
         each.what == region::kind::pinned;
}

// The allocation's memory, which is its program's: only what looks at it is const.
std::byte* bytes_of(const region& of) { return const_cast<std::byte*>(of.begin); }

}  // namespace

void loaded_bytes::change_others(loaded_pieces but, std::uint64_t drawn_from) {
  changes_.push_back({std::move(but), drawn_from});
}

void loaded_bytes::launch_begins(shadow_memory& memory) {
  regions_.clear();
  if (!is_watching_ || memory.bytes() > most_bytes) return;
  memory.each_region([&](const region& each) {
    if (!is_changed_at_all(each)) return;
    bytes_of_region& made = regions_[&each];
    made.is_loaded.resize(each.bytes);
    made.is_stored.resize(each.bytes);
    if (!changes_.empty()) change(each, made, changes_.front());
  });
  if (!changes_.empty()) changes_.pop_front();
}

void loaded_bytes::change(const region& of, bytes_of_region& bytes, const wanted_change& wanted) {
  bytes.before.assign(of.begin, of.begin + of.bytes);
  bytes.is_changed.assign(of.bytes, true);
  for (std::size_t i = 0; i + 2 < wanted.but.size(); i += 3) {
    if (wanted.but[i] != of.number) continue;
    const auto first = std::min<std::uint64_t>(wanted.but[i + 1], of.bytes);
    const auto end = std::clamp<std::uint64_t>(wanted.but[i + 2], first, of.bytes);
    std::fill(bytes.is_changed.begin() + static_cast<std::ptrdiff_t>(first),
              bytes.is_changed.begin() + static_cast<std::ptrdiff_t>(end), false);
  }
  drawn_bytes drawn(wanted.drawn_from + of.number);
  for (std::size_t i = 0; i < of.bytes; ++i) {
    if (bytes.is_changed[i]) bytes_of(of)[i] ^= drawn.next();
  }
}

void loaded_bytes::note(const region& in, const std::byte* address, std::size_t bytes,
                        std::vector<bool> bytes_of_region::*what) {
  const auto found = regions_.find(&in);
  if (found == regions_.end()) return;
  const auto first = (found->second.*what).begin() + (address - in.begin);
  std::fill(first, first + static_cast<std::ptrdiff_t>(bytes), true);
}

loaded_pieces loaded_bytes::launch_ends() {
  std::vector<std::pair<const region*, const bytes_of_region*>> in_order;
  for (const auto& [each, bytes] : regions_) {
    in_order.emplace_back(each, &bytes);
    for (std::size_t i = 0; i < bytes.is_changed.size(); ++i) {
      if (bytes.is_changed[i] && !bytes.is_stored[i]) bytes_of(*each)[i] = bytes.before[i];
    }
  }
  std::ranges::sort(in_order, {}, [](const auto& each) { return each.first->number; });
  loaded_pieces pieces;
  for (const auto& [each, bytes] : in_order) {
    const std::vector<bool>& is_loaded = bytes->is_loaded;
    for (auto at = is_loaded.begin(); at != is_loaded.end();) {
      const auto first = std::find(at, is_loaded.end(), true);
      at = std::find(first, is_loaded.end(), false);
      if (first == is_loaded.end()) break;
      pieces.insert(pieces.end(),
                    {each->number, static_cast<std::uint64_t>(first - is_loaded.begin()),
                     static_cast<std::uint64_t>(at - is_loaded.begin())});
    }
  }
  regions_.clear();
  return pieces;
}

}  // namespace racecheck
