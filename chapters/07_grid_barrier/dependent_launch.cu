// SPDX-License-Identifier: MIT
// Chapter 07's wave by programmatic dependent launch, for its benchmark.
#include "benchmark/dependent_launch.cuh"

#include <utility>

#include "07_grid_barrier/wave.cuh"
#include "07_grid_barrier/wave_cases.cuh"

namespace benchmarks {

namespace {

__global__ void wave_one_step_dependently(const int* now, int* before, unsigned width,
                                          unsigned height) {
  begin_dependent_kernel();
  course::wave_step(now, before, width, height);
}

}  // namespace

benchmark_case wave_by_dependent_launches(const wave_case_maker& of, unsigned blocks,
                                          unsigned threads) {
  require_dependent_launch(wave_one_step_dependently);
  return of.make("dependent_launches", role::peer,
                 [blocks, threads, size = of.size()](int* now, int* before) {
                   for (unsigned step = 0; step < steps_of_call; ++step) {
                     launch_dependent(wave_one_step_dependently, {blocks, threads}, nullptr,
                                      static_cast<const int*>(now), before, size, size);
                     std::swap(now, before);
                   }
                 });
}

}  // namespace benchmarks
