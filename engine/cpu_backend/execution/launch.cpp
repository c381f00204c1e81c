// SPDX-License-Identifier: MIT
// Launches: the check of the configuration, and the device that runs one grid at a time.
#include "cpu_backend/execution/launch.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cpu_backend/execution/failure_message.hpp"
#include "cpu_backend/execution/signals.hpp"
#include "cpu_backend/execution/watch.hpp"
#include "cpu_backend/execution/worker.hpp"
#include "cpu_backend/player.hpp"
#include "cpu_backend/runtime/refused_launches.hpp"
#include "cpu_backend/runtime/stream_order.hpp"

namespace cpu_backend {
namespace {

using namespace std::chrono_literals;

class device {
 public:
  void run(grid& of) {
    const std::lock_guard one_launch_at_a_time(mutex_);
    const std::uint64_t wanted = players_of(of);
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

std::string text_of(std::initializer_list<std::uint64_t> sizes) {
  std::string text;
  for (const std::uint64_t size : sizes) {
    text += text.empty() ? '(' : ',';
    text += std::to_string(size);
  }
  text += ')';
  return text;
}

std::string text_of(const dim3& size) { return text_of({size.x, size.y, size.z}); }

std::string text_of(const int (&limit)[3]) {
  const auto at = [&](int i) { return static_cast<std::uint64_t>(limit[i]); };
  return text_of({at(0), at(1), at(2)});
}

// What check() did not like.
std::string describe_refusal(const launch_configuration& asked, const void* kernel) {
  const cudaDeviceProp& limits = device_properties();
  const std::uint64_t threads = std::uint64_t{asked.threads.x} * asked.threads.y * asked.threads.z;
  const auto too_large = [](const dim3& size, const int(&limit)[3]) {
    return size.x > static_cast<unsigned>(limit[0]) || size.y > static_cast<unsigned>(limit[1]) ||
           size.z > static_cast<unsigned>(limit[2]);
  };
  if (threads == 0) return "a block of " + text_of(asked.threads) + " threads is empty";
  if (threads > static_cast<unsigned>(limits.maxThreadsPerBlock)) {
    return "a block of " + std::to_string(threads) + " threads; the limit is " +
           std::to_string(limits.maxThreadsPerBlock);
  }
  if (too_large(asked.threads, limits.maxThreadsDim)) {
    return "a block of " + text_of(asked.threads) + " threads; the limit is " +
           text_of(limits.maxThreadsDim);
  }
  if (asked.blocks.x == 0 || asked.blocks.y == 0 || asked.blocks.z == 0) {
    return "a grid of " + text_of(asked.blocks) + " blocks is empty";
  }
  if (too_large(asked.blocks, limits.maxGridSize)) {
    return "a grid of " + text_of(asked.blocks) + " blocks; the limit is " +
           text_of(limits.maxGridSize);
  }
  const std::size_t shared_limit = dynamic_shared_memory_limit(kernel);
  if (asked.dynamic_shared_bytes > shared_limit) {
    return std::to_string(asked.dynamic_shared_bytes) +
           " bytes of dynamic shared memory; the limit is " + std::to_string(shared_limit) +
           (shared_limit < limits.sharedMemPerBlockOptin
                ? ", and cudaFuncSetAttribute() can raise it to " +
                      std::to_string(limits.sharedMemPerBlockOptin)
                : "");
  }
  return "its stream does not exist";
}

void run_grid(const launch_configuration& configuration, const void* kernel,
              void (*run_threads)(multiprocessor&, const void*), const void* body,
              const place& at) {
  grid now;
  now.blocks = configuration.blocks;
  now.threads = configuration.threads;
  now.cooperative = configuration.cooperative;
  now.dynamic_shared_bytes = configuration.dynamic_shared_bytes;
  now.launched_at = at;
  now.kernel = kernel;
  now.run_threads = run_threads;
  now.body = body;
  now.total_blocks = std::uint64_t{now.blocks.x} * now.blocks.y * now.blocks.z;

  // Never destroyed: its threads may not outlive what they use, and they live as long as the
  // process.
  static device& the_device = *new device;
  the_device.run(now);
  if (now.fault.what == kernel_fault::kind::stopped) {
    // It belongs to what the watch has printed.
    std::fputs(("  " + describe(now.fault)).c_str(), stderr);
  } else if (now.fault.what != kernel_fault::kind::none) {
    print_failure(now, describe(now.fault));
  }
  if (now.failed()) fault(now.error);
}

}  // namespace

cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void*), const void* body,
                   const body_copies* copies, const place& at) {
  if (const cudaError_t error = check(configuration, kernel); error != cudaSuccess) {
    if (configuration.returns_nothing) {
      note_refused_launch(error, describe(at) + ": " + describe_refusal(configuration, kernel));
    }
    return record_error(error);
  }
  if (faulted()) return record_error(sticky_error());
  if (this_multiprocessor) {
    this_multiprocessor->fail(cudaErrorNotSupported, [] {
      return "a kernel launches a kernel, which the CPU backend does not do";
    });
  }
  if (streams_are_held()) {
    const created_stream stream = created_stream_of(configuration.stream);
    if (stream.number != 0 && copies) {
      const std::shared_ptr<void> kept(copies->copy(body), copies->destroy);
      hold_launch(stream, at, [=] {
        if (!faulted()) run_grid(configuration, kernel, run_threads, kept.get(), at);
      });
      return cudaSuccess;
    }
    launch_now(configuration.stream, at);
    if (faulted()) return cudaSuccess;
  }
  run_grid(configuration, kernel, run_threads, body, at);
  return cudaSuccess;
}

void block_finished(grid& of) {
  if (!of.cooperative) return;
  {
    const std::lock_guard lock(of.barrier_mutex);
    ++of.finished_blocks;
  }
  of.barrier_opened.notify_all();
}

}  // namespace cpu_backend
