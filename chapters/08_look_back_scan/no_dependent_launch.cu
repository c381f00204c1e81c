// SPDX-License-Identifier: MIT
// On the CPU backend, where a kernel starts when the one before it has ended.
#include <cstddef>
#include <cstdint>

#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

template <class T>
scan_function<T> dependent_look_back_scan(std::size_t) {
  throw no_such_peer("the CPU backend has no programmatic dependent launch");
}

template scan_function<std::int32_t> dependent_look_back_scan(std::size_t);
template scan_function<std::int64_t> dependent_look_back_scan(std::size_t);
template scan_function<float> dependent_look_back_scan(std::size_t);
template scan_function<double> dependent_look_back_scan(std::size_t);

}  // namespace benchmarks
