// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/worker.hpp"

#include "cpu_backend/fibers/fiber.hpp"

namespace cpu_backend {

void worker::start(grid& of) {
  {
    const std::lock_guard lock(mutex_);
    grid_ = &of;
  }
  changed_.notify_all();
}

bool worker::wait_until_idle(std::chrono::steady_clock::duration patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return grid_ == nullptr; });
}

void worker::play() {
  use_signal_stack(signal_stack_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return grid_ != nullptr; });
    grid* now = grid_;
    lock.unlock();
    player_.run(*now);
    if (now->failed()) forget_frames(signal_stack_);
    lock.lock();
    grid_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace cpu_backend
