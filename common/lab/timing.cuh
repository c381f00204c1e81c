// SPDX-License-Identifier: MIT
// Timing of device work by CUDA events.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "lab/check.cuh"
#include "lab/timing.hpp"

namespace lab {

// A CUDA event with an owner.
class event {
 public:
  event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~event() { (void)cudaEventDestroy(event_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  // Marks the point that the default stream has reached once all earlier work in it is done.
  void record() { CUDA_CHECK(cudaEventRecord(event_)); }
  void wait() { CUDA_CHECK(cudaEventSynchronize(event_)); }

  // Milliseconds from `start` to this event; both must have been waited for.
  double milliseconds_since(const event& start) const {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Calls `work` `warm_up` times untimed (the first run pays for loading the kernel and for cold
// memory), then `repeat` (>= 1) times between two events. `work` uses the default stream. Host code
// in `work` that waits for the device is part of the time: the second event is recorded after it.
// Throws whatever `work` throws, and cuda_error where a kernel failed.
template <class Work>
timing time_runs(Work&& work, int repeat, int warm_up = 2) {
  for (int run = 0; run < warm_up; ++run) work();
  event start;
  event stop;
  std::vector<double> milliseconds;
  milliseconds.reserve(static_cast<std::size_t>(repeat));
  for (int run = 0; run < repeat; ++run) {
    start.record();
    work();
    stop.record();
    stop.wait();
    milliseconds.push_back(stop.milliseconds_since(start));
  }
  return summarize(std::move(milliseconds));
}

}  // namespace lab
