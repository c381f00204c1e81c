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

// Times `work`: `repeat` (>= 1) runs between two events, after `warm_up` untimed calls (the first
// one pays for loading the kernel and for cold memory) and one that only tells how long a call is.
// A run of short work is as many calls in a row as take half a millisecond together, and counts as
// their mean: between two events around a single kernel of 3 us there are more than 5. `work` uses
// the default stream. Host code in `work` that waits for the device is part of the time: the second
// event is recorded after it.
// Throws whatever `work` throws, and cuda_error where a kernel failed.
template <class Work>
timing time_runs(Work&& work, int repeat, int warm_up = 2) {
  event start;
  event stop;
  const auto mean_of = [&](int calls) {
    start.record();
    for (int call = 0; call < calls; ++call) work();
    stop.record();
    stop.wait();
    return stop.milliseconds_since(start) / calls;
  };
  for (int call = 0; call < warm_up; ++call) work();
  const int calls = calls_in_a_row(mean_of(1));
  std::vector<double> milliseconds;
  milliseconds.reserve(static_cast<std::size_t>(repeat));
  for (int run = 0; run < repeat; ++run) milliseconds.push_back(mean_of(calls));
  timing result = summarize(std::move(milliseconds));
  result.calls_in_a_row = calls;
  return result;
}

}  // namespace lab
