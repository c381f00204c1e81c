// SPDX-License-Identifier: MIT
// On the CPU backend, which has no bulk copies.
#include <cstddef>
#include <cstdint>

#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

template <class T>
scan_function<T> bulk_look_back_scan(std::size_t) {
  throw no_such_peer("the CPU backend has no bulk copies");
}

template <class T>
scan_function<T> dependent_bulk_look_back_scan(std::size_t) {
  throw no_such_peer("the CPU backend has no bulk copies");
}

template scan_function<std::int32_t> bulk_look_back_scan(std::size_t);
template scan_function<std::int64_t> bulk_look_back_scan(std::size_t);
template scan_function<float> bulk_look_back_scan(std::size_t);
template scan_function<double> bulk_look_back_scan(std::size_t);
template scan_function<std::int32_t> dependent_bulk_look_back_scan(std::size_t);
template scan_function<std::int64_t> dependent_bulk_look_back_scan(std::size_t);
template scan_function<float> dependent_bulk_look_back_scan(std::size_t);
template scan_function<double> dependent_bulk_look_back_scan(std::size_t);

}  // namespace benchmarks
