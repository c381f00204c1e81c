// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include "07_grid_barrier/wave_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

benchmark_case wave_by_dependent_launches(const wave_case_maker&, unsigned, unsigned) {
  throw no_such_peer("the CPU backend has no programmatic dependent launch");
}

}  // namespace benchmarks
