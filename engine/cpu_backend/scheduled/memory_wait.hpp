// SPDX-License-Identifier: MIT
// Which threads of a block wait for memory to change. Each is known by the number of its fiber.
#pragma once

#include <cstdint>
#include <vector>

namespace cpu_backend {

class memory_wait {
 public:
  // Somebody has changed memory, or there is one thread less to wait for it. Counts for all blocks:
  // a thread that waits counts as doing so only if it has looked since.
  static void memory_changed() { ++changes_; }

  // The thread has looked at memory, changed nothing, and lets others run; `state` is what it holds
  // by itself.
  void looked(unsigned fiber, std::uint64_t state);

  // How many threads have looked again and again since memory changed, and are where they were.
  unsigned waiting() const { return since_ == changes_ ? waiting_ : 0; }

 private:
  struct turns {
    std::uint64_t state = 0;  // in which the thread ended its last turn
    std::uint64_t since = 0;  // memory changes
    unsigned repeated = 0;    // turns since then that ended in this state
  };

  static inline std::uint64_t changes_ = 0;
  std::vector<turns> turns_;
  std::uint64_t since_ = 0;
  unsigned waiting_ = 0;
};

}  // namespace cpu_backend
