// SPDX-License-Identifier: MIT
// Launches: the check of the configuration, and the grids that they make.
#include "cpu_backend/execution/launch.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/work_queue.hpp"

namespace cpu_backend {
namespace {

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

uint3 index_of(const dim3& size) { return {size.x, size.y, size.z}; }

uint3 index_of(const int (&limit)[3]) {
  const auto at = [&](int i) { return static_cast<unsigned>(limit[i]); };
  return {at(0), at(1), at(2)};
}

// What check() did not like.
diagnostic record_of_refusal(const launch_configuration& asked, const void* kernel) {
  const cudaDeviceProp& limits = device_properties();
  const std::uint64_t threads = std::uint64_t{asked.threads.x} * asked.threads.y * asked.threads.z;
  const auto too_large = [](const dim3& size, const int(&limit)[3]) {
    return size.x > static_cast<unsigned>(limit[0]) || size.y > static_cast<unsigned>(limit[1]) ||
           size.z > static_cast<unsigned>(limit[2]);
  };
  diagnostic made("refused_launch");
  made.add("threads", index_of(asked.threads)).add("blocks", index_of(asked.blocks));
  if (threads == 0) return made.add("why", "empty_block");
  if (threads > static_cast<unsigned>(limits.maxThreadsPerBlock)) {
    return made.add("why", "too_many_threads")
        .add("number", threads)
        .add("limit", limits.maxThreadsPerBlock);
  }
  if (too_large(asked.threads, limits.maxThreadsDim)) {
    return made.add("why", "too_large_block").add("largest", index_of(limits.maxThreadsDim));
  }
  if (asked.blocks.x == 0 || asked.blocks.y == 0 || asked.blocks.z == 0) {
    return made.add("why", "empty_grid");
  }
  if (too_large(asked.blocks, limits.maxGridSize)) {
    return made.add("why", "too_large_grid").add("largest", index_of(limits.maxGridSize));
  }
  const std::size_t shared_limit = dynamic_shared_memory_limit(kernel);
  if (asked.dynamic_shared_bytes > shared_limit) {
    made.add("why", "too_much_shared_memory")
        .add("bytes", asked.dynamic_shared_bytes)
        .add("limit", shared_limit);
    if (shared_limit < limits.sharedMemPerBlockOptin) {
      made.add("raised_limit", limits.sharedMemPerBlockOptin);
    }
    return made;
  }
  return made.add("why", "no_such_stream");
}

void report_fault(const grid& of) {
  const source_line line = line_of(of.fault);
  const diagnostic record = record_of(of.fault, line);
  const std::string code = line.text.empty() ? "" : "      " + line.text + '\n';
  if (of.fault.what != kernel_fault::kind::stopped) {
    report_failure(of, record, '\n' + code);
    return;
  }
  // It belongs to what the watch has reported.
  write_record(record);
  write_to_stderr(lines_of({record}) + code);
}

// What a launch needs until its end.
struct given_launch {
  work given;
  launch_body body{nullptr, nullptr};
  grid running;

  work_queue::outcome take(work_queue::turn turn);
};

work_queue::outcome given_launch::take(work_queue::turn turn) {
  if (turn == work_queue::turn::abandon) {
    if (!running.has_begun) return work_queue::outcome::done;
    running.fail_first(cudaErrorLaunchFailure);
  } else if (faulted()) {
    return work_queue::outcome::done;
  }
  running.has_begun = true;
  running.may_wait = turn == work_queue::turn::may_wait;
  running.waits = running.moved = false;
  run_on_device(running);
  if (running.waits) return running.moved ? work_queue::outcome::moved : work_queue::outcome::waits;
  if (running.fault.what != kernel_fault::kind::none) report_fault(running);
  if (running.failed() && turn != work_queue::turn::abandon) fault(running.error);
  return work_queue::outcome::done;
}

}  // namespace

cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void*), launch_body body,
                   const place& at) {
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  form::launch_comes();
  if (const cudaError_t error = begin_call("launch")) return record_error(error);
  if (const cudaError_t error = check(configuration, kernel); error != cudaSuccess) {
    form::used("launch", "refused", &at);
    if (configuration.returns_nothing) {
      note_refused_launch(error, record_of_refusal(configuration, kernel).add("at", at));
    }
    return record_error(error);
  }
  if (faulted()) return record_error(sticky_error());
  if (this_multiprocessor) {
    body.reset();  // No frame of this thread is left in order.
    this_multiprocessor->fail(cudaErrorNotSupported, [] { return diagnostic("launch_in_kernel"); });
  }
  const work_order::alone_with_device now;
  const auto made = std::make_shared<given_launch>();
  made->given = work_order::give(configuration.stream, work_kind::kernel);
  grid& of = made->running;
  of.blocks = configuration.blocks;
  of.threads = configuration.threads;
  of.cooperative = configuration.cooperative;
  of.dynamic_shared_bytes = configuration.dynamic_shared_bytes;
  of.launched_at = at;
  of.given = &made->given;
  of.kernel = kernel;
  of.run_threads = run_threads;
  of.body = body.get();
  of.total_blocks = std::uint64_t{of.blocks.x} * of.blocks.y * of.blocks.z;
  made->body = std::move(body);
  form::used("launch", of.cooperative ? "cooperative" : "plain", &at);
  work_queue::run(made->given, [made](work_queue::turn turn) { return made->take(turn); });
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
