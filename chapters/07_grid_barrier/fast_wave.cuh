// SPDX-License-Identifier: MIT
// Chapter 07, made fast: the wave with any form of the barrier, and with the heights kept in shared
// memory from the first step to the last.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "07_grid_barrier/cooperative_launch.cuh"
#include "07_grid_barrier/fast_grid_barrier.cuh"
#include "07_grid_barrier/wave.cuh"
#include "lab/check.cuh"

namespace course {

// wave_steps with any form of the barrier.
template <class Barrier>
__global__ void wave_steps_with(int* now, int* before, unsigned width, unsigned height,
                                unsigned steps, typename Barrier::word* words) {
  Barrier barrier(words);
  for (unsigned step = 0; step < steps; ++step) {
    wave_step(now, before, width, height);
    barrier();
    int* const newest = before;
    before = now;
    now = newest;
  }
}

// The rows of a block: as many as another block's, or one more.
struct wave_band {
  unsigned first;
  unsigned rows;
};
__host__ __device__ inline wave_band band_of(unsigned block, unsigned blocks, unsigned height) {
  const unsigned inner = height > 2 ? height - 2 : 0;
  const auto begin = [=](unsigned of) {
    return 1 + static_cast<unsigned>(static_cast<unsigned long long>(inner) * of / blocks);
  };
  return {begin(block), begin(block + 1) - begin(block)};
}

// Shared memory that wave_in_bands needs: both steps of the largest band, and the row on each side.
inline std::size_t wave_band_bytes(unsigned width, unsigned height, unsigned blocks) {
  const unsigned inner = height > 2 ? height - 2 : 0;
  const std::size_t rows = (inner + blocks - 1) / blocks;
  return 2 * (rows + 2) * width * sizeof(int);
}

// As wave_steps_with, for blocks that own a band of rows each and keep it in shared memory. Only
// the first and the last row of a band travel through `now` and `before`, between two neighbours;
// at the end each block writes back all rows. For wave_band_bytes() bytes of shared memory.
template <class Barrier>
__global__ void wave_in_bands(int* now, int* before, unsigned width, unsigned height,
                              unsigned steps, typename Barrier::word* words) {
  extern __shared__ int cells[];
  if (steps == 0) return;
  Barrier barrier(words);
  const wave_band band = band_of(blockIdx.x, gridDim.x, height);
  const std::size_t above = std::size_t{band.first - 1} * width;  // the band's row 0 in memory
  const std::size_t size = std::size_t{band.rows + 2} * width;
  const std::size_t last = std::size_t{band.rows + 1} * width;
  int* here = cells;
  int* here_before = cells + size;
  if (band.rows > 0) {
    for (std::size_t i = threadIdx.x; i < size; i += blockDim.x) here[i] = now[above + i];
    // Not the rows around it: the first step of another block may already write them.
    for (std::size_t i = width + threadIdx.x; i < last; i += blockDim.x) {
      here_before[i] = before[above + i];
    }
  }
  __syncthreads();
  for (unsigned step = 0; step < steps; ++step) {
    for (unsigned column = 1 + threadIdx.x; column + 1 < width; column += blockDim.x) {
      if (band.rows == 0) break;
      int up = here[column];
      int middle = here[width + column];
      for (unsigned row = 1; row <= band.rows; ++row) {
        const std::size_t i = std::size_t{row} * width + column;
        const int down = here[i + width];
        const int next = next_height(up, down, here[i - 1], here[i + 1], here_before[i]);
        here_before[i] = next;
        if (row == 1 || row == band.rows) before[above + i] = next;
        up = middle;
        middle = down;
      }
    }
    barrier();
    // Not after the last step: then the neighbours write all of their rows.
    if (band.rows > 0 && step + 1 < steps) {
      for (unsigned column = threadIdx.x; column < width; column += blockDim.x) {
        here_before[column] = before[above + column];
        here_before[last + column] = before[above + last + column];
      }
    }
    __syncthreads();
    int* const newest = before;
    before = now;
    now = newest;
    int* const newest_here = here_before;
    here_before = here;
    here = newest_here;
  }
  if (band.rows == 0) return;
  for (std::size_t i = width + threadIdx.x; i < last; i += blockDim.x) {
    now[above + i] = here[i];
    before[above + i] = here_before[i];
  }
}

// As wave_in_one_launch, with any form of the barrier; words has Barrier::word_count(blocks)
// elements.
template <class Barrier>
void wave_with(int* now, int* before, unsigned width, unsigned height, unsigned steps,
               typename Barrier::word* words, unsigned blocks, unsigned threads,
               cudaStream_t stream = nullptr) {
  launch_cooperatively(wave_steps_with<Barrier>, blocks, threads, 0, stream, now, before, width,
                       height, steps, words);
}

// The same in bands. Errors: lab::cuda_error as well if a band does not fit in shared memory.
template <class Barrier>
void wave_with_bands(int* now, int* before, unsigned width, unsigned height, unsigned steps,
                     typename Barrier::word* words, unsigned blocks, unsigned threads,
                     cudaStream_t stream = nullptr) {
  const std::size_t bytes = wave_band_bytes(width, height, blocks);
  CUDA_CHECK(cudaFuncSetAttribute(wave_in_bands<Barrier>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  launch_cooperatively(wave_in_bands<Barrier>, blocks, threads, bytes, stream, now, before, width,
                       height, steps, words);
}

}  // namespace course
