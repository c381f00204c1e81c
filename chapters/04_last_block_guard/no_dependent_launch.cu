// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include "04_last_block_guard/launch_cases.cuh"

namespace benchmarks {

namespace {

const no_such_peer missing("the CPU backend has no programmatic dependent launch");

}  // namespace

reduce_function<float> dependent_last_block_sum(std::size_t, unsigned) { throw missing; }
reduce_function<float> dependent_first_warp_sum(std::size_t) { throw missing; }
benchmark_case last_block_sum_by_dependent_launch(const exact_vectors<float>&, const placement&) {
  throw missing;
}
benchmark_case last_block_sum_by_dependent_launch_in_a_graph(const exact_vectors<float>&,
                                                             const placement&) {
  throw missing;
}
benchmark_case first_warp_sum_by_dependent_launch_in_a_graph(const exact_vectors<float>&,
                                                             const placement&) {
  throw missing;
}
benchmark_case first_warp_sum_that_reads_early_in_a_graph(const exact_vectors<float>&,
                                                          const placement&) {
  throw missing;
}

}  // namespace benchmarks
