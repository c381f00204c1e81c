// SPDX-License-Identifier: MIT
// Chapter 08's scan by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>
#include <memory>
#include <utility>

#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"

namespace benchmarks {

namespace {

// Takes its ticket while the kernel before still runs. That one has memory of its own, and the one
// before it, which had this memory, has ended: the kernel before let this one start only after it
// had waited for that.
__global__ void __launch_bounds__(course::scan_threads)
    scan_dependently(const float* in, float* out, std::size_t n,
                     course::look_back<float> earlier_tiles) {
  const course::tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  wait_for_kernel_before();
  let_next_kernel_start();
  course::scan_tile<course::scan_kind::inclusive, course::tile_order::as_published>(
      in, out, n, 0.0F, course::plus{}, earlier_tiles, mine);
}

}  // namespace

benchmark_case look_back_scan_by_dependent_launch(const exact_vectors<float>& data,
                                                  lab::device_buffer<float>& out,
                                                  const placement& where) {
  require_dependent_launch(scan_dependently);
  const unsigned tiles = course::scan_tiles_of<float>(where.elements);
  using memory = course::look_back_memory<float>;
  const auto in_turn = std::make_shared<std::pair<memory, memory>>(tiles, tiles);
  return scanning<float>("look_back_dependent_launch", role::variant, data, out, where,
                         [=](const float* in, float* to, std::size_t n) {
                           launch_dependent(scan_dependently, tiles, course::scan_threads, nullptr,
                                            in, to, n, in_turn->first.access(tiles));
                           std::swap(in_turn->first, in_turn->second);
                         });
}

}  // namespace benchmarks
