// SPDX-License-Identifier: MIT
// The guards of this chapter as types, so that one kernel can be compiled with each.
#pragma once

#include <cuda_runtime.h>

#include "04_last_block_guard/classic_guards.cuh"
#include "04_last_block_guard/last_block.cuh"
#include "04_last_block_guard/repaired_classic_guard.cuh"

namespace course {

// A call of each is last_block's. That a *counter was not 0 is noticed by last_block alone.
struct acquire_release_guard {
  static constexpr bool resets_counter = true;
  __device__ bool operator()(unsigned* counter) const { return last_block(counter); }
};

// The classic guard, repaired: as last_block, in one-dimensional grids and blocks.
struct repaired_guard {
  static constexpr bool resets_counter = true;
  __device__ bool operator()(unsigned* counter) const { return last_block_by_fences(counter); }
};

// The classic guards, with the barrier and the fence that they need around them. Someone else must
// set *counter to 0 before each launch, and the grid is one-dimensional.
struct shared_flag_guard {
  static constexpr bool resets_counter = false;
  __device__ bool operator()(unsigned* counter) const {
    __syncthreads();
    const bool last = classic::last_block_shared_flag(counter);
    if (last) __threadfence();
    return last;
  }
};
struct syncthreads_or_guard {
  static constexpr bool resets_counter = false;
  __device__ bool operator()(unsigned* counter) const {
    __syncthreads();
    const bool last = classic::last_block_syncthreads_or(counter);
    if (last) __threadfence();
    return last;
  }
};

}  // namespace course
