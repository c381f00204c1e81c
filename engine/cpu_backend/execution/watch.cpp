// SPDX-License-Identifier: MIT
#include "cpu_backend/execution/watch.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/execution/signals.hpp"

namespace cpu_backend {
namespace {

using namespace std::chrono_literals;

constexpr auto spinning_limit = 2s;

double seconds_from_environment(const char* variable, double otherwise) {
  const char* text = setting(variable);
  if (!text) return otherwise;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || seconds > 1e6) {
    std::fprintf(stderr, "%s=%s: expected a number of seconds above 0\n", variable, text);
    std::exit(2);
  }
  return seconds;
}

}  // namespace

watch::watch(grid& of, std::vector<worker*> workers)
    : grid_(of),
      workers_(std::move(workers)),
      idle_turns_(workers_.size()),
      patience_(seconds_from_environment("LAB_TIMEOUT", 30)) {}

void watch::look() {
  const auto now = clock::now();
  std::uint64_t events = 0;
  bool anyone_computes = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const player& each = workers_[i]->played();
    events += each.events();
    const std::uint64_t idle_turns = each.idle_turns();
    const bool idle = !each.holds_block() || each.waits_for_grid() || idle_turns != idle_turns_[i];
    if (!idle) anyone_computes = true;
    idle_turns_[i] = idle_turns;
  }
  if (events != events_) {
    events_ = events;
    moved_ = computed_ = now;
  }
  if (anyone_computes) computed_ = now;
  if (grid_.failed()) {
    // Threads that wait notice it by themselves; a loop without an atomic or a fence never does.
    if (now - moved_ > patience_ + 1s) interrupt();
  } else if (now - computed_ > spinning_limit) {
    stop(deadlock_of(grid_));
  } else if (now - moved_ > patience_) {
    stop(diagnostic("never_ends").add("seconds", patience_.count()));
    interrupt();
  }
}

void watch::stop(const diagnostic& why) {
  if (grid_.failed()) return;
  // In this order: whoever sees the failure gives up at once, and then says what it waited for.
  report_failure(grid_, why);
  grid_.describe_on_abandon.store(true);
  if (!grid_.fail_first(cudaErrorLaunchTimeout)) return;
  { const std::lock_guard lock(grid_.barrier_mutex); }
  grid_.barrier_opened.notify_all();
}

void watch::interrupt() {
  for (worker* each : workers_) {
    if (each->played().holds_block()) interrupt_kernel(each->handle());
  }
}

}  // namespace cpu_backend
