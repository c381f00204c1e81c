// SPDX-License-Identifier: MIT
// Which bytes of global memory a launch has stored, as far as anybody has seen it, and which it has
// changed all the same.
//
// No compiler tells of what a library's function stores, or of code that must not be instrumented.
// So that nobody's work stays unseen, memory as it was before the launch is compared with what is
// there after it. A hidden store whose bytes are stored visibly in the same launch is not found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "racecheck/memory/shadow.hpp"

namespace racecheck {

class stored_bytes {
 public:
  // With more memory than this a launch is not compared: a copy of it would take too long.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  void launch_begins(shadow_memory& memory);
  // All of them are in the region.
  void stored(const region& in, const std::byte* address, std::size_t bytes);
  // How many bytes have changed since launch_begins() and were not stored; nothing if that is not
  // known.
  std::optional<std::uint64_t> unseen() const;

 private:
  struct region_before {
    std::vector<std::byte> content;
    std::vector<bool> is_stored;
  };

  std::unordered_map<const region*, region_before> regions_;
  bool is_compared_ = false;
};

}  // namespace racecheck
