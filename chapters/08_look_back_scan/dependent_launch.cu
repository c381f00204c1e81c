// SPDX-License-Identifier: MIT
// Chapter 08's scan by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/scan_cases.cuh"

namespace benchmarks {

namespace {

// Takes its ticket while the kernel before still runs. That one has memory of its own, and the one
// before it, which had this memory, has ended: the kernel before let this one start only after it
// had waited for that.
// PTX promises less than that needs: griddepcontrol.launch_dependents only lets the next kernel
// start, and what earlier kernels wrote is sure to be seen after griddepcontrol.wait. The counter
// is read before. It is right because the hardware performs atomics and strong stores of device
// scope in the L2 cache, and those of a kernel that has ended have been performed.
template <class T>
__global__ void __launch_bounds__(course::scan_threads)
    scan_dependently(const T* in, T* out, std::size_t n, course::look_back<T> earlier_tiles) {
  const course::tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  wait_for_kernel_before();
  let_next_kernel_start();
  course::scan_tile<course::scan_kind::inclusive, course::tile_order::as_published>(
      in, out, n, T{}, course::plus{}, earlier_tiles, mine);
}

}  // namespace

template <class T>
scan_function<T> dependent_look_back_scan(std::size_t n) {
  require_dependent_launch(scan_dependently<T>);
  const unsigned tiles = course::scan_tiles_of<T>(n);
  using memory = course::look_back_memory<T>;
  const auto in_turn = std::make_shared<std::pair<memory, memory>>(tiles, tiles);
  return [=](const T* in, T* out, cudaStream_t stream) {
    launch_dependent(scan_dependently<T>, {tiles, course::scan_threads}, stream, in, out, n,
                     in_turn->first.access(tiles));
    std::swap(in_turn->first, in_turn->second);
  };
}

template scan_function<std::int32_t> dependent_look_back_scan(std::size_t);
template scan_function<std::int64_t> dependent_look_back_scan(std::size_t);
template scan_function<float> dependent_look_back_scan(std::size_t);
template scan_function<double> dependent_look_back_scan(std::size_t);

}  // namespace benchmarks
