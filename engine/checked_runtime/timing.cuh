// SPDX-License-Identifier: MIT
// Timing of device work by CUDA events.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/timing.hpp"

#ifdef CPU_BACKEND_HERE
#include "cpu_backend/form.hpp"
#endif

namespace checked {

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

// Takes the time of calls in a row, between two events of its own.
class stopwatch {
 public:
  // The mean of `calls` (>= 1) calls of `work` in milliseconds, once the device is done with them.
  // `work` uses the default stream. Throws whatever it throws, and cuda_error where a kernel
  // failed.
  template <class Work>
  double mean_of(Work&& work, int calls) {
    start_.record();
    for (int call = 0; call < calls; ++call) work();
    stop_.record();
    stop_.wait();
    return stop_.milliseconds_since(start_) / calls;
  }

 private:
  event start_;
  event stop_;
};

// In the race checker's form of a program no time means anything. There each run is one call, and
// one call comes before them: a kernel runs twice at least, the second time on what the first one
// left. How often it runs must not depend on the time that it takes: the same seed, the same run.
#ifndef CPU_BACKEND_HERE
inline constexpr bool times_mean_something = true;
#else
inline constexpr bool times_mean_something = cpu_backend::form::times_mean_something;
#endif

// Times `work`: `repeat` (>= 1) runs between two events, after `warm_up` (>= 1) calls, of which the
// first pays for loading the kernel and for cold memory, and the last one tells how long a call is.
// A run of short work is as many calls in a row as take half a millisecond together, and counts as
// their mean: between two events around a single kernel of 3 us there are more than 5. `work` uses
// the default stream. Host code in `work` that waits for the device is part of the time: the second
// event is recorded after it.
// Throws whatever `work` throws, and cuda_error where a kernel failed.
template <class Work>
timing time_runs(Work&& work, int repeat, int warm_up = 2) {
  stopwatch watch;
  if (!times_mean_something) warm_up = 1;
  for (int call = 1; call < warm_up; ++call) work();
  const double milliseconds_of_one = watch.mean_of(work, 1);
  const int calls = times_mean_something ? calls_in_a_row(milliseconds_of_one) : 1;
  std::vector<double> milliseconds;
  milliseconds.reserve(static_cast<std::size_t>(repeat));
  for (int run = 0; run < repeat; ++run) {
    milliseconds.push_back(watch.mean_of(work, calls));
  }
  timing result = summarize(std::move(milliseconds));
  result.calls_in_a_row = calls;
  return result;
}

}  // namespace checked
