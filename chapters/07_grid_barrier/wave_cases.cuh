// SPDX-License-Identifier: MIT
// The benchmark cases of a wave: ways to have all blocks wait for each other between two steps.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "07_grid_barrier/wave_reference.hpp"
#include "benchmark/comparison.hpp"
#include "benchmark/session.hpp"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"
#include "lab/reference.hpp"

namespace benchmarks {

inline constexpr unsigned steps_of_call = 100;  // Even: the last step is in the first array.

// A square wave: its start, and what it is after steps_of_call steps. The reference takes the host
// a while.
class wave_case_maker {
 public:
  explicit wave_case_maker(unsigned size)
      : size_(size),
        start_(course::random_wave(size, size, 7)),
        expected_(course::reference_wave(start_, size, size, steps_of_call)),
        now_(std::make_shared<lab::device_buffer<int>>(start_.now)),
        before_(std::make_shared<lab::device_buffer<int>>(start_.before)) {}

  unsigned size() const { return size_; }
  unsigned rows() const { return size_ - 2; }
  std::size_t cells() const { return std::size_t{size_} * size_; }

  // A case whose times are those of a step. run(now, before) enqueues steps_of_call steps. The
  // maker outlives the case.
  benchmark_case make(const std::string& name, role part,
                      const std::function<void(int*, int*)>& run) const {
    const auto call = [run, now = now_, before = before_](std::size_t) {
      run(now->data(), before->data());
    };
    return {.name = name,
            .part = part,
            .bytes = 3 * sizeof(int) * cells(),
            .run = call,
            .wrong = [this, call]() -> std::optional<std::string> {
              now_->copy_from(start_.now);
              before_->copy_from(start_.before);
              call(0);
              const auto wrong = lab::first_difference<int>(now_->to_host(), expected_.now);
              if (wrong) return wrong;
              return lab::first_difference<int>(before_->to_host(), expected_.before);
            },
            .calls_of_run = steps_of_call};
  }

 private:
  unsigned size_;
  course::wave_heights start_;
  course::wave_heights expected_;
  std::shared_ptr<lab::device_buffer<int>> now_;
  std::shared_ptr<lab::device_buffer<int>> before_;
};

// One launch per step, by programmatic dependent launch. Throws no_such_peer. In
// dependent_launch.cu.
benchmark_case wave_by_dependent_launches(const wave_case_maker& of, unsigned blocks,
                                          unsigned threads);

}  // namespace benchmarks
