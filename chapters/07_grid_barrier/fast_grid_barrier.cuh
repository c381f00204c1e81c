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
class one_word_barrier {
 public:
  using word = unsigned;
  static std::size_t word_count(unsigned) { return 1; }

  __device__ explicit one_word_barrier(word* words) : words_(words) {}

  __device__ void operator()() const {
    constexpr unsigned top_bit = 1U << 31;
    const barrier_counter arrivals(*words_);
    __syncthreads();
    if (cooperative_groups::thread_block::thread_rank() == 0) {
      const unsigned mine = barrier_rank() == 0 ? top_bit - (barrier_blocks() - 1) : 1;
      const unsigned before = arrivals.fetch_add(mine, cuda::memory_order_release);
      while (((arrivals.load(cuda::memory_order_acquire) ^ before) & top_bit) == 0) {
      }
    }
    __syncthreads();
  }

 private:
  word* words_;
};

// A word in a cache line without others, so that accesses to two of them don't meet.
struct alignas(128) barrier_line {
  unsigned count;
};

// The blocks form `groups` groups, and each group counts and waits at its own word, so that few
// blocks poll the same one. Who comes last in its group comes to the root; who comes last there
// flips the top bit of each group's word.
template <unsigned groups>
class grouped_barrier {
 public:
  using word = barrier_line;
  static std::size_t word_count(unsigned) { return 1 + groups; }

  __device__ explicit grouped_barrier(word* words) : words_(words) {}

  __device__ void operator()() const {
    __syncthreads();
    if (cooperative_groups::thread_block::thread_rank() == 0) {
      const unsigned group = barrier_rank() % groups;
      const barrier_counter arrivals(words_[1 + group].count);
      const unsigned before = arrivals.fetch_add(1, cuda::memory_order_release);
      if ((before & ~top_bit) == size_of(group) - 1 && is_last_group()) {
        release_all();
      } else {
        while (((arrivals.load(cuda::memory_order_acquire) ^ before) & top_bit) == 0) {
        }
      }
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned top_bit = 1U << 31;

  __device__ static unsigned size_of(unsigned group) {
    return barrier_blocks() / groups + (group < barrier_blocks() % groups ? 1 : 0);
  }
  __device__ static unsigned used_groups() {
    return barrier_blocks() < groups ? barrier_blocks() : groups;
  }

  // Each of the two fences acquires what the arrivals before it have released, and releases it with
  // the relaxed operations after it.
  __device__ bool is_last_group() const {
    const barrier_counter root(words_[0].count);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    if (root.fetch_add(1, cuda::memory_order_relaxed) != used_groups() - 1) return false;
    root.store(0, cuda::memory_order_relaxed);
    return true;
  }
  __device__ void release_all() const {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
    for (unsigned group = 0; group < used_groups(); ++group) {
      const barrier_counter arrivals(words_[1 + group].count);
      arrivals.fetch_add(top_bit - size_of(group), cuda::memory_order_relaxed);
    }
  }

  word* words_;
};

// All blocks count at one word, whose top bit changes with each barrier, and wait at `lines`
// others, so that arrivals don't meet polls, and few blocks poll the same word.
template <unsigned lines>
class spread_barrier {
 public:
  using word = barrier_line;
  static std::size_t word_count(unsigned) { return 1 + lines; }

  __device__ explicit spread_barrier(word* words) : words_(words) {}

  __device__ void operator()() const {
    constexpr unsigned top_bit = 1U << 31;
    __syncthreads();
    if (cooperative_groups::thread_block::thread_rank() == 0) {
      const barrier_counter arrivals(words_[0].count);
      const unsigned before = arrivals.fetch_add(1, cuda::memory_order_release);
      const unsigned next = ~before & top_bit;  // what opens this barrier
      if ((before & ~top_bit) == barrier_blocks() - 1) {
        arrivals.store(next, cuda::memory_order_relaxed);
        cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
        for (unsigned line = 0; line < lines; ++line) {
          opened(line).store(next, cuda::memory_order_relaxed);
        }
      } else {
        const barrier_counter mine = opened(barrier_rank() % lines);
        while (mine.load(cuda::memory_order_acquire) != next) {
        }
      }
    }
    __syncthreads();
  }

 private:
  __device__ barrier_counter opened(unsigned line) const {
    return barrier_counter(words_[1 + line].count);
  }

  word* words_;
};

// No counter at all: each block writes the barrier's number to its own word, block 0's threads poll
// these words, and answer in another word of each block. After the lock-free barrier of Xiao and
// Feng, "Inter-block GPU communication via fast barrier synchronization" (IPDPS 2010), with the
// orders that CUDA's memory model asks for.
class gathering_barrier {
 public:
  using word = unsigned long long;
  static std::size_t word_count(unsigned blocks) { return 1 + 2 * std::size_t{blocks}; }

  // words[0] is the number of the last barrier of the launch before: block 0 writes it, and no
  // block reads it after its first barrier.
  __device__ explicit gathering_barrier(word* words) : words_(words), number_(words[0]) {}

  __device__ void operator()() {
    using cooperative_groups::thread_block;
    ++number_;
    __syncthreads();
    if (barrier_rank() == 0) {
      const unsigned first = thread_block::thread_rank();
      const unsigned step = thread_block::size();
      // All words are read before one is judged, so that the reads don't wait for each other.
      for (bool complete = false; !complete;) {
        complete = true;
#pragma unroll 4
        for (unsigned block = 1 + first; block < barrier_blocks(); block += step) {
          complete &= arrived(block).load(cuda::memory_order_relaxed) == number_;
        }
      }
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
      __syncthreads();  // Each thread has acquired what some blocks wrote, and now all have.
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
      for (unsigned block = 1 + first; block < barrier_blocks(); block += step) {
        released(block).store(number_, cuda::memory_order_relaxed);
      }
      if (first == 0) words_[0] = number_;
    } else if (thread_block::thread_rank() == 0) {
      arrived(barrier_rank()).store(number_, cuda::memory_order_release);
      while (released(barrier_rank()).load(cuda::memory_order_acquire) != number_) {
      }
    }
    __syncthreads();
  }

 private:
  using reference = cuda::atomic_ref<word, cuda::thread_scope_device>;

  __device__ reference arrived(unsigned block) const { return reference(words_[1 + block]); }
  __device__ reference released(unsigned block) const {
    return reference(words_[1 + barrier_blocks() + block]);
  }

  word* words_;
  word number_;
};

}  // namespace course
