// SPDX-License-Identifier: MIT
// Records in a kernel when and where each item was worked on. A kernel that is not traced should
// have none of this in it: make the recorder part of a type that the kernel is compiled for, and
// not a branch.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/device_buffer.cuh"
#include "lab/work_trace.hpp"

#ifdef CPU_BACKEND_HERE
#include "cpu_backend/device_functions/special_registers.hpp"
#endif

namespace lab {

// The number of the multiprocessor that runs the calling thread.
__device__ inline std::uint32_t current_multiprocessor() {
#ifndef CPU_BACKEND_HERE
  std::uint32_t number;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
#else
  return cpu_backend::current_multiprocessor();
#endif
}

// Nanoseconds on a clock that all multiprocessors share. Never 0. (PTX ISA, "Special Registers":
// %globaltimer; its resolution depends on the GPU.)
__device__ inline std::uint64_t device_nanoseconds() {
#ifndef CPU_BACKEND_HERE
  std::uint64_t now;
  // The memory clobber keeps the item's own reads and writes on their side of the clock.
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
#else
  return cpu_backend::device_nanoseconds();
#endif
}

// A kernel's access to the events. Copied into kernels by value.
class trace_recorder {
 public:
  explicit trace_recorder(trace_event* events) : events_(events) {}

  // Notes that `item`, below the number of events, was worked on from `begin_ns` until now. One
  // thread calls it, once for each item, when all threads that work on the item are done.
  __device__ void record(std::size_t item, std::uint64_t begin_ns) const {
    events_[item] = {.begin_ns = begin_ns,
                     .end_ns = device_nanoseconds(),
                     .multiprocessor = current_multiprocessor(),
                     .block = blockIdx.x};
  }

 private:
  trace_event* events_;
};

// The events of one run with `items` items, in device memory.
class trace_memory {
 public:
  explicit trace_memory(std::size_t items) : events_(items) { events_.fill_bytes(0); }

  trace_recorder recorder() { return trace_recorder(events_.data()); }

  // Waits for the kernel.
  std::vector<trace_event> events() const { return events_.to_host(); }

 private:
  device_buffer<trace_event> events_;
};

}  // namespace lab
