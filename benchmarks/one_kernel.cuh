// SPDX-License-Identifier: MIT
// Chapter 05's ways to hand out tiles, all in one kernel. nvcc compiles the loop over a pixel's
// steps anew for each kernel, and its choice of instructions makes more of a difference than the
// handing out does. Here the ways share one copy of the loop, so that their times can be compared.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "05_work_queue/work_queue.cuh"
#include "lab/check.cuh"
#include "lab/resident_blocks.cuh"

namespace benchmarks {

enum class way {
  one_block_a_tile,
  contiguous_ranges,
  grid_stride,
  queue,
  queue_first_static,
  queue_in_chunks,
  queue_ahead,
  queue_each_warp
};

// Everything that one of the ways needs.
struct all_ways {
  const course::tile_index* tiles;
  std::size_t count;
  course::work_queue<course::tile_index> queue;
  std::size_t chunk;
};

__noinline__ __device__ inline void render_out_of_line(const course::render_tiles& work,
                                                       course::tile_index tile,
                                                       const course::team& workers) {
  work(tile, workers);
}

// `chosen` is the same for all threads. The rest is as for process_items.
static __global__ void render_by(way chosen, all_ways ways, course::render_tiles work) {
  using course::tile_index;
  const auto render = [&](tile_index tile, const course::team& workers) {
    render_out_of_line(work, tile, workers);
  };
  const tile_index* const tiles = ways.tiles;
  const std::size_t count = ways.count;
  switch (chosen) {
    case way::one_block_a_tile:
      return course::one_block_each<tile_index>{tiles, count}.for_each(render);
    case way::contiguous_ranges:
      return course::contiguous_ranges<tile_index>{tiles, count}.for_each(render);
    case way::grid_stride:
      return course::grid_stride<tile_index>{tiles, count}.for_each(render);
    case way::queue:
      return course::by_queue<tile_index>{ways.queue}.for_each(render);
    case way::queue_first_static:
      return course::by_queue_first_static<tile_index>{ways.queue}.for_each(render);
    case way::queue_in_chunks:
      return course::by_queue_in_chunks<tile_index>{ways.queue, ways.chunk}.for_each(render);
    case way::queue_ahead:
      return course::by_queue_ahead<tile_index>{ways.queue}.for_each(render);
    case way::queue_each_warp:
      return course::by_queue_each_warp<tile_index>{ways.queue}.for_each(render);
  }
}

// Launches it in the default stream and does not wait. Errors: lab::cuda_error.
inline void launch_render_by(way chosen, const all_ways& ways, const course::render_tiles& work,
                             unsigned threads) {
  const std::size_t blocks =
      chosen == way::one_block_a_tile ? ways.count : lab::resident_blocks(render_by, threads);
  render_by<<<static_cast<unsigned>(blocks), threads>>>(chosen, ways, work);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace benchmarks
