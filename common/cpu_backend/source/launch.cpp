// SPDX-License-Identifier: MIT
// Launches: the check of the configuration, the OS threads that play the multiprocessors, and the
// watch over launches that no longer move.
#include "cpu_backend/launch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cpu_backend/report.hpp"
#include "cpu_backend/signals.hpp"
#ifdef CPU_BACKEND_OBSERVED
#include "conductor.hpp"
#endif

namespace cpu_backend {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// What an OS thread plays: one multiprocessor, or in the observed form all of them in turn.
#ifdef CPU_BACKEND_OBSERVED
using player = conductor;
#else
using player = multiprocessor;
#endif

// An OS thread that plays multiprocessors. It lives as long as the process.
class worker {
 public:
  explicit worker(unsigned number) : player_(number), thread_([this] { play(); }) {
    thread_.detach();
  }

  void start(grid& of) {
    {
      const std::lock_guard lock(mutex_);
      grid_ = &of;
    }
    changed_.notify_all();
  }

  // True once the grid that was started is done, false after `patience`.
  bool wait_until_idle(clock::duration patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return grid_ == nullptr; });
  }

  player& played() { return player_; }
  pthread_t handle() const { return handle_; }

 private:
  void play() {
#ifndef CPU_BACKEND_OBSERVED
    this_multiprocessor = &player_;
#endif
    use_signal_stack(signal_stack_);
    std::unique_lock lock(mutex_);
    handle_ = pthread_self();
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

  player player_;
  std::mutex mutex_;
  std::condition_variable changed_;
  grid* grid_ = nullptr;
  pthread_t handle_{};
  std::array<std::byte, signal_stack_bytes> signal_stack_;
  std::thread thread_;
};

double seconds_from_environment(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  if (!text) return otherwise;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || seconds > 1e6) {
    std::fprintf(stderr, "%s=%s: expected a number of seconds above 0\n", variable, text);
    std::exit(2);
  }
  return seconds;
}

// Decides whether a launch still moves. A loop that computes for long and a loop that waits for
// ever look the same from outside, so the first is given LAB_TIMEOUT seconds; blocks that do
// nothing but look at memory that nobody changes are recognised much sooner.
class watch {
 public:
  watch(grid& of, std::vector<worker*> workers)
      : grid_(of), workers_(std::move(workers)), idle_turns_(workers_.size()) {}

  void look() {
    const auto now = clock::now();
    std::uint64_t events = 0;
    bool anyone_computes = false;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const player& each = workers_[i]->played();
      events += each.events();
      const std::uint64_t idle_turns = each.idle_turns();
      const bool idle =
          !each.holds_block() || each.waits_for_grid() || idle_turns != idle_turns_[i];
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
      stop("deadlock: every thread that is left waits for memory that no other thread will change");
    } else if (now - moved_ > patience_) {
      stop("no thread has returned or passed a barrier for " + text_of(patience_) +
           "; this looks like a deadlock (set LAB_TIMEOUT=SECONDS if it only computes for long)");
      interrupt();
    }
  }

 private:
  static constexpr auto spinning_limit = 2s;

  static std::string text_of(std::chrono::duration<double> time) {
    char text[32];
    std::snprintf(text, sizeof text, "%g s", time.count());
    return text;
  }

  void stop(const std::string& message) {
    if (grid_.failed()) return;
    // In this order: whoever sees the failure gives up at once, and then says what it waited for.
    report(grid_, message);
    grid_.describe_on_abandon.store(true);
    if (!grid_.fail_first(cudaErrorLaunchTimeout)) return;
    { const std::lock_guard lock(grid_.barrier_mutex); }
    grid_.barrier_opened.notify_all();
  }

  void interrupt() {
    for (worker* each : workers_) {
      if (each->played().holds_block()) interrupt_kernel(each->handle());
    }
  }

  grid& grid_;
  std::vector<worker*> workers_;
  std::vector<std::uint64_t> idle_turns_;
  std::chrono::duration<double> patience_{seconds_from_environment("LAB_TIMEOUT", 30)};
  clock::time_point moved_ = clock::now();
  clock::time_point computed_ = moved_;
  std::uint64_t events_ = 0;
};

class device {
 public:
  void run(grid& of) {
    const std::lock_guard one_launch_at_a_time(mutex_);
#ifdef CPU_BACKEND_OBSERVED
    const std::uint64_t wanted = 1;
#else
    const std::uint64_t wanted =
        std::min<std::uint64_t>(of.total_blocks, static_cast<unsigned>(number_of_sms()));
#endif
    while (workers_.size() < wanted) {
      workers_.push_back(std::make_unique<worker>(static_cast<unsigned>(workers_.size())));
    }
    std::vector<worker*> at_work;
    for (std::uint64_t i = 0; i < wanted; ++i) at_work.push_back(workers_[i].get());
    of.number = ++launches_;
    const kernel_signal_handlers handlers;
    for (worker* each : at_work) each->start(of);
    watch over{of, at_work};
    for (worker* each : at_work) {
      while (!each->wait_until_idle(100ms)) over.look();
    }
  }

 private:
  std::mutex mutex_;
  std::uint64_t launches_ = 0;
  std::vector<std::unique_ptr<worker>> workers_;
};

cudaError_t check(const launch_configuration& asked, const void* kernel) {
  const cudaDeviceProp& limits = device_properties();
  const auto fits = [](const dim3& size, const int(&limit)[3]) {
    return size.x - 1 < static_cast<unsigned>(limit[0]) &&
           size.y - 1 < static_cast<unsigned>(limit[1]) &&
           size.z - 1 < static_cast<unsigned>(limit[2]);
  };
  if (!fits(asked.blocks, limits.maxGridSize) || !fits(asked.threads, limits.maxThreadsDim) ||
      std::uint64_t{asked.threads.x} * asked.threads.y * asked.threads.z >
          static_cast<std::uint64_t>(limits.maxThreadsPerBlock)) {
    return cudaErrorInvalidValue;  // as CUDA 13 has it; an older toolkit says InvalidConfiguration
  }
  if (asked.dynamic_shared_bytes > dynamic_shared_memory_limit(kernel))
    return cudaErrorInvalidValue;
  if (!is_stream(asked.stream)) return cudaErrorInvalidResourceHandle;
  const std::uint64_t blocks = std::uint64_t{asked.blocks.x} * asked.blocks.y * asked.blocks.z;
  if (asked.cooperative && blocks > static_cast<unsigned>(number_of_sms()))
    return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

}  // namespace

cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void*), const void* body,
                   const place& at) {
  if (const cudaError_t error = check(configuration, kernel); error != cudaSuccess) {
    return record_error(error);
  }
  if (faulted()) return record_error(sticky_error());
  if (this_multiprocessor) {
    this_multiprocessor->fail(cudaErrorNotSupported, [] {
      return "a kernel launches a kernel, which the CPU backend does not do";
    });
  }
  grid now;
  now.blocks = configuration.blocks;
  now.threads = configuration.threads;
  now.cooperative = configuration.cooperative;
  now.dynamic_shared_bytes = configuration.dynamic_shared_bytes;
  now.launched_at = at;
  now.run_threads = run_threads;
  now.body = body;
  now.total_blocks = std::uint64_t{now.blocks.x} * now.blocks.y * now.blocks.z;

  // Never destroyed: its threads may not outlive what they use, and they live as long as the
  // process.
  static device& the_device = *new device;
  the_device.run(now);
  if (now.failed()) fault(now.error);
  return cudaSuccess;
}

#ifndef CPU_BACKEND_OBSERVED
void grid_barrier(multiprocessor& of, const place& at) {
  grid& now = of.running_grid();
  std::unique_lock lock(now.barrier_mutex);
  const std::uint64_t generation = now.barrier_generation;
  if (++now.blocks_at_barrier == now.total_blocks) {
    now.blocks_at_barrier = 0;
    ++now.barrier_generation;
    now.barrier_opened.notify_all();
    return;
  }
  of.waits_for_grid(true);
  now.barrier_opened.wait(lock, [&] {
    return now.barrier_generation != generation || now.failed() || now.finished_blocks != 0;
  });
  of.waits_for_grid(false);
  const bool opened = now.barrier_generation != generation;
  lock.unlock();
  if (opened) return;
  if (now.failed()) of.abandon_block();
  of.fail(cudaErrorLaunchFailure, [&] {
    return "waits for the whole grid at " + describe(at) +
           ", but a block has ended without coming there";
  });
}
#endif

void block_finished(grid& of) {
  if (!of.cooperative) return;
  {
    const std::lock_guard lock(of.barrier_mutex);
    ++of.finished_blocks;
  }
  of.barrier_opened.notify_all();
}

}  // namespace cpu_backend
