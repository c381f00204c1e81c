// SPDX-License-Identifier: MIT
// Chapter 08's scan by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>
#include <memory>

#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"

namespace benchmarks {

namespace {

__global__ void __launch_bounds__(course::scan_threads)
    scan_dependently(const float* in, float* out, std::size_t n,
                     course::look_back<float> earlier_tiles) {
  begin_dependent_kernel();  // Tickets, too, are taken after the kernel before has ended.
  course::scan_next_tile<course::scan_kind::inclusive, course::tile_order::as_published>(
      in, out, n, 0.0F, course::plus{}, earlier_tiles);
}

}  // namespace

benchmark_case look_back_scan_by_dependent_launch(const exact_vectors<float>& data,
                                                  lab::device_buffer<float>& out,
                                                  const placement& where) {
  require_dependent_launch(scan_dependently);
  const unsigned tiles = course::scan_tiles_of<float>(where.elements);
  const auto memory = std::make_shared<course::look_back_memory<float>>(tiles);
  return scanning<float>("look_back_dependent_launch", role::variant, data, out, where,
                         [=](const float* in, float* to, std::size_t n) {
                           launch_dependent(scan_dependently, tiles, course::scan_threads, nullptr,
                                            in, to, n, memory->access(tiles));
                         });
}

}  // namespace benchmarks
