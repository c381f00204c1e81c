// SPDX-License-Identifier: MIT
// Chapter 04's sum in the ways to launch it that are in launch_cases.cuh of chapter 03.
#pragma once

#include <cstddef>

#include "03_two_kernel_reduction/launch_cases.cuh"
#include "04_last_block_guard/fast_last_block_guard.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"

namespace benchmarks {

// Sums of n values as programmatic dependent launches; the second one merges in the first warp.
// Throw no_such_peer. In dependent_launch.cu, too.
reduce_function<float> dependent_last_block_sum(std::size_t n, unsigned threads = threads_a_block);
reduce_function<float> dependent_first_warp_sum(std::size_t n);

// By programmatic dependent launch, in the default stream or as a graph of such launches; where the
// first warp merges; and where it also reads its input before it waits. Throw no_such_peer. In
// dependent_launch.cu.
benchmark_case last_block_sum_by_dependent_launch(const exact_vectors<float>& data,
                                                  const placement& where);
benchmark_case last_block_sum_by_dependent_launch_in_a_graph(const exact_vectors<float>& data,
                                                             const placement& where);
benchmark_case first_warp_sum_by_dependent_launch_in_a_graph(const exact_vectors<float>& data,
                                                             const placement& where);
benchmark_case first_warp_sum_that_reads_early_in_a_graph(const exact_vectors<float>& data,
                                                          const placement& where);

}  // namespace benchmarks
