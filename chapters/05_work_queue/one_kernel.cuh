// SPDX-License-Identifier: MIT
// Chapter 05's ways to hand out tiles, all in one kernel. nvcc compiles the loop over a pixel's
// steps anew for each kernel, and its choice of instructions makes more of a difference than the
// handing out does. Here the ways share one copy of the loop, so that their times can be compared.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "05_work_queue/fast_hand_out.cuh"
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

template <class Work>
__noinline__ __device__ void work_out_of_line(const Work& work, course::tile_index tile,
                                              const course::team& workers) {
  work(tile, workers);
}

// `chosen` is the same for all threads. The rest is as for process_items.
template <class Work>
__global__ void process_tiles_by(way chosen, all_ways ways, Work work) {
  using course::tile_index;
  const auto work_on = [&](tile_index tile, const course::team& workers) {
    work_out_of_line(work, tile, workers);
  };
  const tile_index* const tiles = ways.tiles;
  const std::size_t count = ways.count;
  work.begin();
  switch (chosen) {
    case way::one_block_a_tile:
      course::one_block_each<tile_index>{tiles, count}.for_each(work_on);
      break;
    case way::contiguous_ranges:
      course::contiguous_ranges<tile_index>{tiles, count}.for_each(work_on);
      break;
    case way::grid_stride:
      course::grid_stride<tile_index>{tiles, count}.for_each(work_on);
      break;
    case way::queue:
      course::by_queue<tile_index>{ways.queue}.for_each(work_on);
      break;
    case way::queue_first_static:
      course::by_queue_first_static<tile_index>{ways.queue}.for_each(work_on);
      break;
    case way::queue_in_chunks:
      course::by_queue_in_chunks<tile_index>{ways.queue, ways.chunk}.for_each(work_on);
      break;
    case way::queue_ahead:
      course::by_queue_ahead<tile_index>{ways.queue}.for_each(work_on);
      break;
    case way::queue_each_warp:
      course::by_queue_each_warp<tile_index>{ways.queue}.for_each(work_on);
      break;
  }
  work.end();
}

// The grid of that kernel: a block for each of `tiles`, or as many as are resident at once. Errors:
// lab::cuda_error.
template <class Work>
unsigned blocks_for(way chosen, std::size_t tiles, unsigned threads) {
  if (chosen == way::one_block_a_tile) return static_cast<unsigned>(tiles);
  return static_cast<unsigned>(lab::resident_blocks(process_tiles_by<Work>, threads));
}

// Launches it in the default stream and does not wait. Errors: lab::cuda_error.
template <class Work>
void launch_processing_by(way chosen, const all_ways& ways, const Work& work, unsigned blocks,
                          unsigned threads) {
  process_tiles_by<<<blocks, threads>>>(chosen, ways, work);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace benchmarks
