// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/signals.hpp"
#include "cpu_backend/player.hpp"

namespace cpu_backend {

// An OS thread that plays multiprocessors. It lives as long as the process.
class worker {
 public:
  explicit worker(unsigned number)
      : player_(number), thread_([this] { play(); }), handle_(thread_.native_handle()) {
    thread_.detach();
  }

  void start(grid& of);
  // True once the grid that was started is done, false after `patience`.
  bool wait_until_idle(std::chrono::steady_clock::duration patience);

  const player& played() const { return player_; }
  pthread_t handle() const { return handle_; }

 private:
  void play();

  player player_;
  std::mutex mutex_;
  std::condition_variable changed_;
  grid* grid_ = nullptr;
  std::array<std::byte, signal_stack_bytes> signal_stack_;
  std::thread thread_;
  pthread_t handle_;  // kept, since a detached thread's object has none
};

}  // namespace cpu_backend
