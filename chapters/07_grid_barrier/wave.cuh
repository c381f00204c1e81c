// SPDX-License-Identifier: MIT
// A wave on a rectangle of whole numbers, step by step. A step needs the neighbours' heights of the
// step before, and the neighbours belong to other blocks: between two steps all blocks must meet.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "07_grid_barrier/cooperative_launch.cuh"
#include "07_grid_barrier/grid_barrier.cuh"
#include "lab/check.cuh"

namespace course {

// The height of a cell at the next step, from its four neighbours' now and its own at the step
// before: the wave equation u'' = c^2 (u_xx + u_yy) in differences, with c^2 = 1/2, rounded down to
// a whole number. Sums are modulo 2^32. It can be solved for `before`, so no difference between two
// waves ever disappears.
__device__ inline int next_height(int up, int down, int left, int right, int before) {
  const unsigned around = static_cast<unsigned>(up) + static_cast<unsigned>(down) +
                          static_cast<unsigned>(left) + static_cast<unsigned>(right);
  return static_cast<int>(static_cast<unsigned>(static_cast<int>(around) >> 1) -
                          static_cast<unsigned>(before));
}

// One step of all cells but those on the rectangle's edge, which keep their heights. Row r is at
// now + r * width. `before` is the step before, and becomes the step after. Rows are shared out to
// blocks, columns to threads, of a one-dimensional grid and block.
__device__ inline void wave_step(const int* now, int* before, unsigned width, unsigned height) {
  for (unsigned row = 1 + blockIdx.x; row + 1 < height; row += gridDim.x) {
    for (unsigned column = 1 + threadIdx.x; column + 1 < width; column += blockDim.x) {
      const std::size_t i = std::size_t{row} * width + column;
      before[i] = next_height(now[i - width], now[i + width], now[i - 1], now[i + 1], before[i]);
    }
  }
}

namespace {  // A kernel can't be inline, so each source file gets its own.

// `steps` steps in one launch. After an odd number of them, the last step is in `before`.
__global__ void wave_steps(int* now, int* before, unsigned width, unsigned height, unsigned steps,
                           grid_barrier_words* barrier) {
  for (unsigned step = 0; step < steps; ++step) {
    wave_step(now, before, width, height);
    grid_barrier(barrier);
    int* const newest = before;
    before = now;
    now = newest;
  }
}

// One step per launch: the end of the kernel is the barrier.
__global__ void wave_one_step(const int* now, int* before, unsigned width, unsigned height) {
  wave_step(now, before, width, height);
}

// Both below do `steps` steps in `stream`, and do not wait. `now` and `before` have width * height
// elements that the device can reach; after an odd number of steps the last one is in `before`.
// blocks is from 1 on, threads from 1 to 1024. Errors: lab::cuda_error if a launch is refused.

// In one launch. *barrier is grid_barrier's. Errors: launch_cooperatively's, too.
inline void wave_in_one_launch(int* now, int* before, unsigned width, unsigned height,
                               unsigned steps, grid_barrier_words* barrier, unsigned blocks,
                               unsigned threads, cudaStream_t stream = nullptr) {
  launch_cooperatively(wave_steps, blocks, threads, 0, stream, now, before, width, height, steps,
                       barrier);
}

// In `steps` launches.
inline void wave_launch_by_launch(int* now, int* before, unsigned width, unsigned height,
                                  unsigned steps, unsigned blocks, unsigned threads,
                                  cudaStream_t stream = nullptr) {
  for (unsigned step = 0; step < steps; ++step) {
    wave_one_step<<<blocks, threads, 0, stream>>>(now, before, width, height);
    CUDA_CHECK(cudaGetLastError());
    std::swap(now, before);
  }
}

}  // namespace

}  // namespace course
