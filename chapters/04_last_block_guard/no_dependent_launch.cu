// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include "04_last_block_guard/launch_cases.cuh"

namespace benchmarks {

benchmark_case last_block_sum_by_dependent_launch(const exact_vectors<float>&, const placement&) {
  throw no_such_peer("the CPU backend has no programmatic dependent launch");
}

}  // namespace benchmarks
