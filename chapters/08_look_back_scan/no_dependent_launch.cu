// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

benchmark_case look_back_scan_by_dependent_launch(const exact_vectors<float>&,
                                                  lab::device_buffer<float>&, const placement&) {
  throw no_such_peer("the CPU backend has no programmatic dependent launch");
}

}  // namespace benchmarks
