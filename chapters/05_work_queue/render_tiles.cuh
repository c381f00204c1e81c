// SPDX-License-Identifier: MIT
// Chapter 05's work, the tiles of a Mandelbrot picture, and the kernel that takes them from a
// queue. The tiles' costs differ by a factor of a thousand, and are not known before.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/process_items.cuh"
#include "05_work_queue/work_queue.cuh"
#include "05_work_queue/work_queue_memory.cuh"
#include "lab/check.cuh"

namespace course {

// Computes a tile's counts: neighbouring threads take neighbouring pixels of a row. counts has
// of.pixel_count() elements, row by row. All threads of the team call it; visit(count) is called
// for each of the calling thread's pixels.
template <class Visit>
__device__ void render_tile(const picture& of, tile_index tile, const team& workers,
                            std::uint32_t* counts, Visit visit) {
  const tile_area area = area_of(of, tile);
  const std::uint32_t pixels = area.width * area.height;
  for (std::uint32_t i = workers.rank; i < pixels; i += workers.size) {
    const std::uint32_t column = area.left + i % area.width;
    const std::uint32_t row = area.top + i / area.width;
    const std::uint32_t count = escape_count(of.cx(column), of.cy(row), of.iterations);
    counts[std::size_t{row} * of.size + column] = count;
    visit(count);
  }
}

// The same by all threads of the block, with nothing else to do.
__device__ inline void render_tile(const picture& of, tile_index tile, std::uint32_t* counts) {
  render_tile(of, tile, whole_block(), counts, [](std::uint32_t) {});
}

namespace {  // A kernel can't be inline, so each source file gets its own.

// Computes the picture's counts: each block takes tiles from the queue until it is empty. For any
// one-dimensional grid and block; the queue holds each tile once; counts is render_tile's.
__global__ void render_from_queue(picture of, work_queue<tile_index> queue, std::uint32_t* counts) {
  for (tile_index tile = queue.fetch(); !(tile == tile_index::none()); tile = queue.fetch()) {
    render_tile(of, tile, counts);
  }
}

// Launches it in the default stream, and does not wait; the queue is full again before. blocks is
// from 1 to 2^31 - 1, threads from 1 to 1024. Errors: lab::cuda_error where CUDA refuses.
inline void render_on_device(const picture& of, work_queue_memory<tile_index>& tiles,
                             std::uint32_t* counts, unsigned blocks, unsigned threads) {
  tiles.reset();
  render_from_queue<<<blocks, threads>>>(of, tiles.queue(), counts);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

// Work for process_items: the counts, and no prologue.
struct render_tiles {
  picture drawn_picture;
  std::uint32_t* counts;

  __device__ void begin() const {}
  __device__ void operator()(tile_index tile, const team& workers) const {
    render_tile(drawn_picture, tile, workers, counts, [](std::uint32_t) {});
  }
  __device__ void end() const {}

  __device__ std::size_t number(tile_index tile) const {
    return std::size_t{tile.row} * drawn_picture.tiles_a_side() + tile.column;
  }
};

// The bins of a histogram of counts; the last one is for all counts from there on.
inline constexpr std::uint32_t histogram_bins = 1024;

// The counts and their histogram, which each block collects in shared memory. So each block has a
// prologue, in which it sets its bins to 0, and an epilogue, in which it adds them to `histogram`,
// histogram_bins elements of global memory that were 0 before the launch.
struct render_tiles_with_histogram {
  render_tiles render;
  unsigned long long* histogram;

  __device__ void begin() const {
    for (unsigned i = threadIdx.x; i < histogram_bins; i += blockDim.x) bins()[i] = 0;
    __syncthreads();
  }
  __device__ void operator()(tile_index tile, const team& workers) const {
    render_tile(render.drawn_picture, tile, workers, render.counts, [](std::uint32_t count) {
      atomicAdd_block(bins() + (count < histogram_bins ? count : histogram_bins - 1), 1U);
    });
  }
  __device__ void end() const {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < histogram_bins; i += blockDim.x) {
      if (bins()[i] > 0) atomicAdd(histogram + i, static_cast<unsigned long long>(bins()[i]));
    }
  }

  __device__ std::size_t number(tile_index tile) const { return render.number(tile); }

 private:
  __device__ static unsigned* bins() {
    __shared__ unsigned shared[histogram_bins];
    return shared;
  }
};

// The picture's tiles, row by row: what the host puts into a queue.
inline std::vector<tile_index> tiles_by_row(const picture& of) {
  std::vector<tile_index> tiles;
  tiles.reserve(of.tile_count());
  for (std::uint32_t row = 0; row < of.tiles_a_side(); ++row) {
    for (std::uint32_t column = 0; column < of.tiles_a_side(); ++column) {
      tiles.push_back({.column = column, .row = row});
    }
  }
  return tiles;
}

enum class tile_class { expensive, cheap };

// Steps after which a tile counts as expensive if its middle has not escaped. Large against the few
// steps of most cheap tiles, small against the iterations of an expensive one.
inline constexpr std::uint32_t steps_of_estimate = 128;

// Puts the tiles of one class into the queue. For a one-dimensional grid of any size.
template <tile_class wanted>
__global__ void append_tiles(work_queue<tile_index> queue, picture of) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < of.tile_count();
       i += threads) {
    const tile_index tile = {.column = static_cast<std::uint32_t>(i % of.tiles_a_side()),
                             .row = static_cast<std::uint32_t>(i / of.tiles_a_side())};
    const tile_area area = area_of(of, tile);
    const std::uint32_t limit =
        of.iterations < steps_of_estimate ? of.iterations : steps_of_estimate;
    const std::uint32_t count =
        escape_count(of.cx(area.left + area.width / 2), of.cy(area.top + area.height / 2), limit);
    const tile_class estimate = count == limit ? tile_class::expensive : tile_class::cheap;
    if (estimate == wanted) queue.append(tile);
  }
}

// Fills the queue on the device with all tiles of the picture, the expensive ones first: what
// starts last then ends soon. Two kernels, and the boundary between them is what orders the
// classes. `memory` has room for of.tile_count() items. Does not wait. Errors: lab::cuda_error.
inline void fill_expensive_first(work_queue_memory<tile_index>& memory, const picture& of) {
  constexpr unsigned threads = 128;
  const auto blocks =
      static_cast<unsigned>(cuda::ceil_div(of.tile_count(), std::uint64_t{threads}));
  memory.clear();
  append_tiles<tile_class::expensive><<<blocks, threads>>>(memory.queue(), of);
  CUDA_CHECK(cudaGetLastError());
  append_tiles<tile_class::cheap><<<blocks, threads>>>(memory.queue(), of);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
