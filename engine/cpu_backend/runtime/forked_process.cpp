// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/forked_process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "cpu_backend/execution/diagnostic.hpp"

namespace cpu_backend {
namespace {

constinit std::atomic<bool> is_child = false;
constinit std::atomic<bool> has_said_so = false;

void in_child() {
  is_child.store(true, std::memory_order_relaxed);
  has_said_so.store(false, std::memory_order_relaxed);
}

}  // namespace

cudaError_t refused_after_fork() {
  static const bool watched = pthread_atfork(nullptr, nullptr, in_child) == 0;
  (void)watched;
  if (!is_child.load(std::memory_order_relaxed)) return cudaSuccess;
  if (!has_said_so.exchange(true)) {
    // Not report(): what stdout holds is the parent's, which will print it itself.
    const diagnostic what("used_after_fork");
    write_record(what);
    std::fputs((what.sentence() + '\n').c_str(), stderr);
  }
  return cudaErrorInitializationError;
}

pid_t fork_with_device() {
  const pid_t child = fork();
  if (child == 0) is_child.store(false, std::memory_order_relaxed);
  return child;
}

}  // namespace cpu_backend
