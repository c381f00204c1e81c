// SPDX-License-Identifier: MIT
// Calls of which each needs the result of the one before: how long one takes, and not how many of
// them a GPU does in a second.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/call_graph.hpp"
#include "benchmark/comparison.hpp"
#include "benchmark/session.hpp"
#include "lab/device_buffer.cuh"
#include "lab/reference.hpp"

namespace benchmarks {

// Calls of `call`(from, to, stream), which reads all of one array and writes to the beginning of
// the other one. The two change places after each call.
template <class T>
class chain {
 public:
  using function = std::function<void(const T*, T*, cudaStream_t)>;

  // What both arrays hold at first, and what the first one holds after calls_of_a_graph calls.
  chain(std::vector<T> input, std::vector<T> expected)
      : input_(std::move(input)), expected_(std::move(expected)) {}

  // Adds a row for calls in a stream and one for calls in a graph, which has that in its name. The
  // chain outlives the cases. make() returns the call, and may throw no_such_peer.
  void add(session& run, std::vector<benchmark_case>& cases, const comparison_description& of,
           const std::string& name, role part, const std::function<function()>& make) const {
    run.add_peer(cases, of, name, [&] {
      return case_of(name, part, [twice = both_ways(make())] {
        for (unsigned pair = 0; pair < pairs; ++pair) twice(nullptr);
      });
    });
    run.add_peer(cases, of, name + "_graph", [&] {
      require_graphs();
      return case_of(name + "_graph", part, recorded_graph(pairs, both_ways(make())));
    });
  }

 private:
  static constexpr unsigned pairs = calls_of_a_graph / 2;

  std::function<void(cudaStream_t)> both_ways(const function& call) const {
    return [=, x = arrays_->first.data(), y = arrays_->second.data()](cudaStream_t stream) {
      call(x, y, stream);
      call(y, x, stream);
    };
  }

  benchmark_case case_of(const std::string& name, role part,
                         const std::function<void()>& run) const {
    return {.name = name,
            .part = part,
            .run = [run](std::size_t) { run(); },
            .wrong = [this, run]() -> std::optional<std::string> {
              arrays_->first.copy_from(input_);
              arrays_->second.copy_from(input_);
              run();
              const std::vector<T> got = arrays_->first.to_host();
              // The timed calls go on with zeros: nothing overflows, however many they are.
              arrays_->first.fill_bytes(0);
              arrays_->second.fill_bytes(0);
              return lab::first_difference<T>(got, expected_);
            },
            .calls_of_run = calls_of_a_graph};
  }

  std::vector<T> input_;
  std::vector<T> expected_;
  using array = lab::device_buffer<T>;
  std::shared_ptr<std::pair<array, array>> arrays_ =
      std::make_shared<std::pair<array, array>>(input_.size(), input_.size());
};

// The sizes at which it matters how long a call takes.
inline std::vector<placement> chain_placements(const session& run) {
  constexpr std::size_t most = std::size_t{1} << 18;
  std::vector<placement> result;
  for (const std::size_t size : chosen_sizes(run.options())) {
    if (size <= most) result.push_back({.elements = size, .data = "cache", .inputs = 1});
  }
  return result;
}

}  // namespace benchmarks
