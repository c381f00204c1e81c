// SPDX-License-Identifier: MIT
// Kernels that pass a grid's barrier again and again, for the tests and the benchmark.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>

#include "07_grid_barrier/cooperative_launch.cuh"
#include "lab/device_buffer.cuh"

namespace course {

// The words of a barrier for grids of up to `blocks` blocks, as they are before the first launch.
template <class Barrier>
lab::device_buffer<typename Barrier::word> new_barrier(unsigned blocks) {
  lab::device_buffer<typename Barrier::word> words(Barrier::word_count(blocks));
  words.fill_bytes(0);
  return words;
}

__device__ inline unsigned grid_thread() {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  return block * cooperative_groups::thread_block::size() +
         cooperative_groups::thread_block::thread_rank();
}

// Passes the barrier `rounds` times, and nothing else. passed[t] becomes the number that thread t
// of the grid has passed.
template <class Barrier>
__global__ void pass_barriers(unsigned rounds, typename Barrier::word* words, unsigned* passed) {
  Barrier barrier(words);
  unsigned count = 0;
  for (; count < rounds; ++count) barrier();
  passed[grid_thread()] = count;
}

// In each round every thread writes the round's number to its own word, and looks behind the
// barrier at the word of the thread as far away as the round says. With one barrier a round: the
// words of two successive rounds are different ones, so that a block may be ahead by one barrier
// and must not be by two. written has 2 * (threads of the grid) elements; wrong[t] becomes how many
// words thread t found wrong.
template <class Barrier>
__global__ void look_behind_barriers(unsigned rounds, typename Barrier::word* words,
                                     unsigned* written, unsigned* wrong) {
  Barrier barrier(words);
  const unsigned threads =
      gridDim.x * gridDim.y * gridDim.z * cooperative_groups::thread_block::size();
  const unsigned mine = grid_thread();
  unsigned count = 0;
  for (unsigned round = 1; round <= rounds; ++round) {
    unsigned* const now = written + (round % 2) * threads;
    const unsigned distance = cooperative_groups::thread_block::size() * round + round / 2;
    now[mine] = round;
    barrier();
    if (now[(mine + distance) % threads] != round) ++count;
  }
  wrong[mine] = count;
}

}  // namespace course
