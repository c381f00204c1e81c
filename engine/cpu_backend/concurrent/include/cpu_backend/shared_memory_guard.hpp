// SPDX-License-Identifier: MIT
// What notices that a kernel runs out of shared memory: a few words right behind it, which are
// looked at when a block ends, and pages farther on that can't be touched. It costs nothing else,
// and so sees writes that run past the end, and not which variable they ran out of: racecheck says
// that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpu_backend {

// Words that hold a pattern as long as nobody writes there.
struct canary {
  static constexpr std::uint64_t untouched = 0xC0FFEE15DEADBEEFu;
  static constexpr std::size_t count = 4;
  std::uint64_t words[count];

  void restore() {
    for (std::uint64_t& word : words) word = untouched;
  }
  bool is_untouched() const {
    std::uint64_t changed = 0;
    for (const std::uint64_t word : words) changed |= word ^ untouched;
    return changed == 0;
  }
};

// Behind the __shared__ variables of the calling OS thread. The first call guards them.
struct guarded_stretch {
  canary* first = nullptr;
  const std::byte* pages = nullptr;
  std::size_t page_bytes = 0;

  bool holds(std::uintptr_t address) const {
    return address - reinterpret_cast<std::uintptr_t>(pages) < page_bytes;
  }
};
guarded_stretch guard_shared_variables();

}  // namespace cpu_backend
