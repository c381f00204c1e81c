// SPDX-License-Identifier: MIT
// Chapter 07, made fast: the grid's barrier in other forms, as types, so that one kernel can be
// compiled with each.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/atomic>

#include <cstddef>

#include "07_grid_barrier/grid_barrier.cuh"

namespace course {

// Each form is a type of which every thread of the grid makes one object at the start of a kernel,
// Form barrier(words), and calls barrier() with grid_barrier's contract. `words` leads to
// word_count(blocks) elements of Form::word, all bytes 0 before the first launch; `blocks` is the
// largest grid that will use them. They are not set back: grids of any sizes may follow each other.
// A grid has fewer than 2^30 blocks.

// Rank of the calling thread's block, and the number of blocks.
__device__ inline unsigned barrier_rank() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__device__ inline unsigned barrier_blocks() { return gridDim.x * gridDim.y * gridDim.z; }

using barrier_counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// Cooperative groups' barrier. It keeps its words in memory of the launch.
class cooperative_groups_barrier {
 public:
  using word = unsigned;
  static std::size_t word_count(unsigned) { return 1; }

  __device__ explicit cooperative_groups_barrier(word*) {}
  __device__ void operator()() const { cooperative_groups::this_grid().sync(); }
};

// The lesson's: a counter of arrivals and a generation.
class generation_barrier {
 public:
  using word = grid_barrier_words;
  static std::size_t word_count(unsigned) { return 1; }

  __device__ explicit generation_barrier(word* words) : words_(words) {}
  __device__ void operator()() const { grid_barrier(words_); }

 private:
  word* words_;
};

// Counts and releases in one word. Block 0 adds so much that the top bit changes when all have
// come, whatever their order; the lower bits are then as before. So no block has to be last, and no
// load comes before the arrival. The idea is that of cooperative groups' own barrier
// (NVIDIA, cooperative_groups/details/sync.h of the CUDA toolkit); the code is new.
// With backs_off, a block first waits as long as the missing blocks' arrivals take at least, a
// clock cycle for each: polls at the word that they have to change would hold them up.
template <bool backs_off>
class one_word_barrier_with {
 public:
  using word = unsigned;
  static std::size_t word_count(unsigned) { return 1; }

  __device__ explicit one_word_barrier_with(word* words) : words_(words) {
    if (!cooperative_groups::this_grid().is_valid()) __trap();  // The launch is not cooperative.
  }

  __device__ void operator()() const {
    const barrier_counter arrivals(*words_);
    __syncthreads();
    if (cooperative_groups::thread_block::thread_rank() == 0) {
      const unsigned mine = barrier_rank() == 0 ? top_bit - (barrier_blocks() - 1) : 1;
      const unsigned before = arrivals.fetch_add(mine, cuda::memory_order_release);
      if (backs_off) wait_for_cycles(missing(before + mine));
      while (((arrivals.load(cuda::memory_order_acquire) ^ before) & top_bit) == 0) {
      }
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned top_bit = 1U << 31;

  // How many blocks have not arrived when the word is `now`. Block 0 is one of them as long as the
  // lower bits are a small number.
  __device__ static unsigned missing(unsigned now) {
    const unsigned low = now & ~top_bit;
    if (low == 0) return 0;
    return low < top_bit / 2 ? barrier_blocks() - low : top_bit - low;
  }

  __device__ static void wait_for_cycles(unsigned cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
  }

  word* words_;
};

using one_word_barrier = one_word_barrier_with<false>;
using backoff_barrier = one_word_barrier_with<true>;

}  // namespace course
