// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include "01_vector_add/vector_add_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

add_function<float> sixteen_bytes_by_dependent_launch(unsigned) {
  throw no_such_peer("the CPU backend has no programmatic dependent launch");
}

}  // namespace benchmarks
