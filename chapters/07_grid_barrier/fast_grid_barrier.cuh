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
// largest grid that will use them. Nobody sets them back: grids of any sizes may follow each other.

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
// come, whatever their order; the lower bits are then as before. So nobody has to be last, and no
// load comes before the arrival. The idea is that of cooperative groups' own barrier
// (NVIDIA, cooperative_groups/details/sync.h of the CUDA toolkit); the code is new.
template <unsigned cycles = 0>
class one_word_barrier_of {
 public:
  using word = unsigned;
  static std::size_t word_count(unsigned) { return 1; }

  __device__ explicit one_word_barrier_of(word* words) : words_(words) {}

  __device__ void operator()() const {
    const barrier_counter arrivals(*words_);
    __syncthreads();
    if (cooperative_groups::thread_block::thread_rank() == 0) {
      const unsigned mine = barrier_rank() == 0 ? top_bit - (barrier_blocks() - 1) : 1;
      const unsigned before = arrivals.fetch_add(mine, cuda::memory_order_release);
      if (cycles > 0) {
        const long long start = clock64();
        const long long time = static_cast<long long>(cycles) * missing(before + mine);
        while (clock64() - start < time) {
        }
      }
      while (((arrivals.load(cuda::memory_order_acquire) ^ before) & top_bit) == 0) {
      }
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned top_bit = 1U << 31;

  // How many blocks have not arrived when the word is `now`: block 0 is or is not among them.
  __device__ static unsigned missing(unsigned now) {
    const unsigned low = now & ~top_bit;
    return low < top_bit / 2 ? (low == 0 ? 0 : barrier_blocks() - low) : top_bit - low;
  }

  word* words_;
};
using one_word_barrier = one_word_barrier_of<>;

// A word in a cache line without others, so that accesses to two of them don't meet.
struct alignas(128) barrier_line {
  unsigned count;
};

// The blocks are shared out to `lines` words, and each word counts its blocks as one_word_barrier
// does. Nobody brings these counts together: thread t of every block waits for word t, and the
// block's own barrier brings the threads together. That takes no more round trips to memory than
// one word does, and each word has fewer arrivals. A word without blocks is block 0's.
// One bit would not do: blocks of a word can be a whole barrier ahead of a block of another word
// that has not looked yet, and would have changed the bit back. Two bits count modulo 4.
template <unsigned lines>
class several_words_barrier {
 public:
  using word = barrier_line;
  static std::size_t word_count(unsigned) { return lines; }

  __device__ explicit several_words_barrier(word* words) : words_(words) {}

  __device__ void operator()() const {
    using cooperative_groups::thread_block;
    __syncthreads();
    const unsigned thread = thread_block::thread_rank();
    const unsigned watchers = lines < thread_block::size() ? lines : thread_block::size();
    if (thread < watchers) {
      unsigned closed = 0;
      if (thread == 0) closed = arrive() & top_bits;
      closed = __shfl_sync(0xffffffffU >> (32 - watchers), closed, 0);
      for (unsigned line = thread; line < lines; line += watchers) {
        while ((count(line).load(cuda::memory_order_acquire) & top_bits) == closed) {
        }
      }
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned one = 1U << 30;
  static constexpr unsigned top_bits = 3U << 30;

  __device__ barrier_counter count(unsigned line) const {
    return barrier_counter(words_[line].count);
  }

  // The block whose rank is the word's number adds what its word lacks.
  __device__ unsigned arrive() const {
    const unsigned rank = barrier_rank();
    const unsigned blocks = barrier_blocks();
    const unsigned others = (blocks - 1 - rank % lines) / lines;
    if (rank == 0) {
      for (unsigned line = blocks; line < lines; ++line) {
        count(line).fetch_add(one, cuda::memory_order_release);
      }
    }
    return count(rank % lines)
        .fetch_add(rank < lines ? one - others : 1, cuda::memory_order_release);
  }

  word* words_;
};

}  // namespace course
