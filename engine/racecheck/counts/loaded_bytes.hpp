// SPDX-License-Identifier: MIT
// Which bytes of allocations each launch loads, as far as anybody has seen it; and a run in which
// all others are different ones.
//
// No compiler tells of what a library's function loads. So whoever wants to be sure that no load
// stays unseen runs a program twice, with the same seed: the second time each byte that the first
// run's launch was not seen to load is another one as long as the launch lasts. What comes out
// must be the same. A hidden load of bytes that the same launch loads visibly is not found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "racecheck/memory/shadow.hpp"

namespace racecheck {

// Three numbers for each piece: the allocation's, the first byte, the one after the last.
using loaded_pieces = std::vector<std::uint64_t>;

class loaded_bytes {
 public:
  // With more memory than this nothing is looked at, as in stored_bytes.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  // From the next launch on.
  void watch() { is_watching_ = true; }
  // The next launch for which nobody has said this yet was seen to load these pieces: all other
  // bytes are changed meanwhile, in a way that `drawn_from` and nothing else decides.
  void change_others(loaded_pieces but, std::uint64_t drawn_from);

  void launch_begins(shadow_memory& memory);
  // All of them are in the region.
  void loaded(const region& in, const std::byte* address, std::size_t bytes) {
    note(in, address, bytes, &bytes_of_region::is_loaded);
  }
  void stored(const region& in, const std::byte* address, std::size_t bytes) {
    note(in, address, bytes, &bytes_of_region::is_stored);
  }
  // Puts back what was changed, but for what the launch has stored. Returns what it has loaded.
  loaded_pieces launch_ends();

 private:
  struct bytes_of_region {
    std::vector<bool> is_loaded, is_stored;
    // Only if they are changed, and both of the region's size.
    std::vector<std::byte> before;
    std::vector<bool> is_changed;
  };
  struct wanted_change {
    loaded_pieces but;
    std::uint64_t drawn_from;
  };

  void note(const region& in, const std::byte* address, std::size_t bytes,
            std::vector<bool> bytes_of_region::*what);
  static void change(const region& of, bytes_of_region& bytes, const wanted_change& wanted);

  std::unordered_map<const region*, bytes_of_region> regions_;
  std::deque<wanted_change> changes_;
  bool is_watching_ = false;
};

}  // namespace racecheck
