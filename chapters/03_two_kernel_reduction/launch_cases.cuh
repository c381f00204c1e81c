// SPDX-License-Identifier: MIT
// A sum in each way that CUDA has to launch it, as benchmark cases: chapter 03's, chapter 04's, and
// CUB's. The same input is summed up again and again, so that it lies in the cache: what differs is
// what a launch costs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/reduction_cases.cuh"
#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "03_two_kernel_reduction/two_kernel_cases.cuh"
#include "benchmark/call_graph.hpp"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/peers.hpp"
#include "benchmark/session.hpp"

namespace benchmarks {

// Those of the session's placements that have a single input, which the cache holds.
inline std::vector<placement> cached_placements(session& run, const std::string& chapter) {
  std::vector<placement> cached;
  for (const placement& where :
       run.placements(chapter, "sums of float by launch", sizeof(float), sizeof(float))) {
    if (where.data == "cache") cached.push_back(where);
  }
  return cached;
}

// A row of calls in one CUDA graph, recorded when it first runs. call(result, stream) sums up the
// one input that there is. Throws no_such_peer.
inline benchmark_case graph_case(const std::string& name, role part,
                                 const reduction_task<float>& task,
                                 std::function<void(float*, cudaStream_t)> call) {
  require_graphs();
  const auto graph = std::make_shared<std::function<void()>>();
  benchmark_case made = task.on_device(name, part, [=](std::size_t, float* result) {
    if (!*graph) {
      *graph = recorded_graph(calls_of_a_graph, [&](cudaStream_t stream) { call(result, stream); });
    }
    (*graph)();
  });
  made.calls_of_run = calls_of_a_graph;
  return made;
}

// Chapter 03's sum. Throws no_such_peer.
inline benchmark_case two_kernel_sum_in_a_graph(role part, const exact_vectors<float>& data,
                                                const placement& where) {
  return graph_case("two_kernels_graph", part, sum_task(data, where),
                    [&data, sum = two_kernel_sum_of<float>(where.elements)](
                        float* result, cudaStream_t stream) { sum(data.a(0), result, stream); });
}

// The same by programmatic dependent launch. Throws no_such_peer. In dependent_launch.cu.
benchmark_case two_kernel_sum_by_dependent_launch(role part, const exact_vectors<float>& data,
                                                  const placement& where);

// Adds chapter 03's sum in all ways.
inline void add_two_kernel_launches(session& run, std::vector<benchmark_case>& cases, role part,
                                    const comparison_description& of,
                                    const exact_vectors<float>& data, const placement& where) {
  cases.push_back(two_kernel_sum("two_kernels", part, data, where));
  run.add_peer(cases, of, "two_kernels_dependent_launch",
               [&] { return two_kernel_sum_by_dependent_launch(part, data, where); });
  run.add_peer(cases, of, "two_kernels_graph",
               [&] { return two_kernel_sum_in_a_graph(part, data, where); });
}

// Adds CUB's sums, which launch their kernels themselves: in a stream and in a graph.
inline void add_cub_launches(session& run, std::vector<benchmark_case>& cases,
                             const comparison_description& of, const exact_vectors<float>& data,
                             const placement& where) {
  add_cub_sums(run, cases, of, data, where);
  const auto add_graph = [&](const std::string& name, auto make) {
    run.add_peer(cases, of, name, [&] {
      return graph_case(name, role::peer, sum_task(data, where),
                        [&data, sum = make(where.elements)](float* result, cudaStream_t stream) {
                          sum(data.a(0), result, stream);
                        });
    });
  };
  add_graph("cub_device_reduce_sum_graph", cub_sum<float>);
  add_graph("cub_sum_not_guaranteed_graph", cub_sum_not_guaranteed<float>);
}

}  // namespace benchmarks
