// SPDX-License-Identifier: MIT
// The device: the OS threads that play its multiprocessors, and the
// watch over them.
#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/execution/signals.hpp"
#include "cpu_backend/fibers/fiber.hpp"
#include "cpu_backend/player.hpp"

namespace cpu_backend {
namespace {

using namespace std::chrono_literals;

constexpr auto spinning_limit = 2s;
constexpr auto waiting_limit = 300ms;

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

std::chrono::duration<double> patience() {
  return std::chrono::duration<double>(seconds_from_environment("LAB_TIMEOUT", 30));
}

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

// Decides whether a launch still moves. A loop that computes for long and a loop that waits for
// ever look the same from outside, so the first is given LAB_TIMEOUT seconds; blocks that do
// nothing but read memory that does not change are recognised much sooner.
class watch {
 public:
  // A LAB_TIMEOUT that is no number of seconds ends the program with one sentence and status 2.
  watch(grid& of, std::vector<worker*> workers);

  // Called every now and then while the launch runs. Makes one that does not move fail, unless it
  // may wait.
  void look();
  // Whether it has not moved for some time. What it computes meanwhile it computes beside the host.
  bool waits() const { return is_beside_host() && clock::now() - moved_ > waiting_limit; }
  bool is_over(const grid& launch) const { return grid_ == &launch; }
  bool has(const worker* one) const { return std::ranges::count(workers_, one) != 0; }
  const std::vector<worker*>& workers() const { return workers_; }

 private:
  using clock = std::chrono::steady_clock;

  bool is_beside_host() const {
    return grid_->may_wait && !grid_->failed() && !form::moves_only_when_told();
  }
  void stop(const diagnostic& why);
  void interrupt();

  grid* grid_;
  std::vector<worker*> workers_;
  std::vector<std::uint64_t> idle_turns_;
  std::chrono::duration<double> patience_;
  clock::time_point moved_ = clock::now();
  clock::time_point computed_ = moved_;
  std::uint64_t events_ = 0;
};

watch::watch(grid& of, std::vector<worker*> workers)
    : grid_(&of),
      workers_(std::move(workers)),
      idle_turns_(workers_.size()),
      patience_(patience()) {}

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
  if (grid_->failed()) {
    // Threads that wait notice it by themselves; a loop without an atomic or a fence never does.
    if (now - moved_ > patience_ + 1s) interrupt();
  } else if (is_beside_host()) {
    // How long it waits is the host's business.
  } else if (now - computed_ > spinning_limit) {
    stop(deadlock_of(*grid_));
  } else if (now - moved_ > patience_) {
    stop(diagnostic("never_ends").add("seconds", patience_.count()));
    interrupt();
  }
}

void watch::stop(const diagnostic& why) {
  if (grid_->failed()) return;
  // In this order: a thread that sees the failure gives up at once, and says what it waited for.
  report_failure(*grid_, why);
  grid_->describe_on_abandon.store(true);
  if (!grid_->fail_first(cudaErrorLaunchTimeout)) return;
  { const std::lock_guard lock(grid_->barrier_mutex); }
  grid_->barrier_opened.notify_all();
}

void watch::interrupt() {
  for (worker* each : workers_) {
    if (each->played().holds_block()) interrupt_kernel(each->handle());
  }
}

// To be used by one host thread at a time.
class device {
 public:
  void run(grid& of) {
    if (!handlers_) handlers_.emplace();
    watch over = take_waiting(of);
    for (worker* each : over.workers()) {
      while (!each->wait_until_idle(100ms)) {
        over.look();
        if (!over.waits()) continue;
        of.waits = true;
        waiting_.push_back(std::move(over));
        return;
      }
    }
    if (waiting_.empty()) handlers_.reset();
  }

 private:
  // The watch over one that waits, or begins.
  watch take_waiting(grid& of) {
    const auto is_its = [&](const watch& each) { return each.is_over(of); };
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_its);
    if (found == waiting_.end()) return begin(of);
    watch over = std::move(*found);
    waiting_.erase(found);
    return over;
  }

  watch begin(grid& of) {
    if (of.number == 0) of.number = ++launches_;
    std::vector<worker*> at_work;
    const std::uint64_t wanted = players_of(of);
    for (std::size_t i = 0; at_work.size() < wanted; ++i) {
      if (i == workers_.size()) {
        workers_.push_back(std::make_unique<worker>(static_cast<unsigned>(i)));
      }
      const auto has_it = [&](const watch& each) { return each.has(workers_[i].get()); };
      if (std::any_of(waiting_.begin(), waiting_.end(), has_it)) continue;
      at_work.push_back(workers_[i].get());
    }
    for (worker* each : at_work) each->start(of);
    return {of, at_work};
  }

  std::uint64_t launches_ = 0;
  std::vector<std::unique_ptr<worker>> workers_;
  std::vector<watch> waiting_;  // over launches that run beside the host
  std::optional<kernel_signal_handlers> handlers_;
};

}  // namespace

std::chrono::duration<double> patience_with_waiting() {
  return std::min<std::chrono::duration<double>>(spinning_limit, patience());
}

void run_on_device(grid& of) {
  // Never destroyed: its threads may not outlive what they use, and they live as long as the
  // process.
  static device& the_device = *new device;
  the_device.run(of);
}

}  // namespace cpu_backend
