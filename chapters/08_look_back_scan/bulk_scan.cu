// SPDX-License-Identifier: MIT
// Chapter 08's scan by bulk copies, for its benchmark.
#include <cstddef>
#include <memory>

#include "08_look_back_scan/bulk_look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

benchmark_case bulk_look_back_scan(const exact_vectors<float>& data, lab::device_buffer<float>& out,
                                   const placement& where) {
  if (!course::has_bulk_copies<float, course::plus>())
    throw no_such_peer(
        "bulk copies of this size need compute capability 9.0 and 217 KiB of shared memory");
  const auto memory = std::make_shared<course::look_back_memory<float>>(
      course::bulk_tiles_of<float>(where.elements));
  return scanning<float>("bulk_look_back", role::variant, data, out, where,
                         [=](const float* in, float* to, std::size_t n) {
                           course::bulk_inclusive_scan(in, to, n, course::plus{}, *memory);
                         });
}

}  // namespace benchmarks
