// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include "03_two_kernel_reduction/launch_cases.cuh"

namespace benchmarks {

benchmark_case two_kernel_sum_by_dependent_launch(role, const exact_vectors<float>&,
                                                  const placement&) {
  throw no_such_peer("the CPU backend has no programmatic dependent launch");
}

}  // namespace benchmarks
