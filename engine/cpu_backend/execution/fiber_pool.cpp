// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/fiber_pool.hpp"

namespace cpu_backend {

fiber_pool::fiber_pool(void (*entry)()) : entry_(entry) {}

resident_thread* fiber_pool::make() {
  const auto number = static_cast<unsigned>(fibers_.size());
  resident_thread& made = fibers_.emplace_back();
  create_fiber(made.own, stacks_.emplace_back(), entry_, number);
  return &made;
}

void fiber_pool::restart_all() {
  idle_.clear();
  for (resident_thread& each : fibers_) {
    restart_fiber(each.own, entry_);
    each.reason = wait_reason::none;
    idle_.push_front(&each);
  }
}

}  // namespace cpu_backend
