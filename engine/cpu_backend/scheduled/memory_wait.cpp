// SPDX-License-Identifier: MIT
#include "cpu_backend/scheduled/memory_wait.hpp"

namespace cpu_backend {

void memory_wait::looked(unsigned fiber, std::uint64_t state) {
  if (since_ != changes_) {
    since_ = changes_;
    waiting_ = 0;
  }
  if (fiber >= turns_.size()) turns_.resize(fiber + 1);
  turns& mine = turns_[fiber];
  if (mine.since != changes_) {
    mine.since = changes_;
    mine.repeated = 0;
  }
  constexpr unsigned enough = 2;  // the first may have looked before the change
  if (mine.state != state) {
    waiting_ -= mine.repeated >= enough;
    mine.state = state;
    mine.repeated = 0;
  } else if (++mine.repeated == enough) {
    ++waiting_;
  }
}

}  // namespace cpu_backend
