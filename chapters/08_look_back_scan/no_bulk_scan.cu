// SPDX-License-Identifier: MIT
// On the CPU backend, which has no bulk copies.
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

benchmark_case bulk_look_back_scan(const exact_vectors<float>&, lab::device_buffer<float>&,
                                   const placement&) {
  throw no_such_peer("the CPU backend has no bulk copies");
}

}  // namespace benchmarks
