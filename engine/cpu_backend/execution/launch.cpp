// SPDX-License-Identifier: MIT
// Launches: the check of the configuration, and the grids that they make.
#include "cpu_backend/execution/launch.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cpu_backend/runtime/stream_order.hpp"

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

  form::used("launch", now.cooperative ? "cooperative" : "plain", &at);
  form::device_gets_work();
  run_on_device(now);
  if (now.fault.what != kernel_fault::kind::none) report_fault(now);
  if (now.failed()) fault(now.error);
}

}  // namespace

cudaError_t launch(const launch_configuration& configuration, const void* kernel,
                   void (*run_threads)(multiprocessor&, const void*), const void* body,
                   const body_copies* copies, const place& at) {
  if (const cudaError_t error = refused_after_fork()) return record_error(error);
  form::launch_comes();
  if (const cudaError_t error = begin_call("launch")) return record_error(error);
  if (const cudaError_t error = check(configuration, kernel); error != cudaSuccess) {
    if (configuration.returns_nothing) {
      note_refused_launch(error, record_of_refusal(configuration, kernel).add("at", at));
    }
    return record_error(error);
  }
  if (faulted()) return record_error(sticky_error());
  if (this_multiprocessor) {
    this_multiprocessor->fail(cudaErrorNotSupported, [] { return diagnostic("launch_in_kernel"); });
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
