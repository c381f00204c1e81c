// SPDX-License-Identifier: MIT
// Cooperative groups: the thread block, tiles of a warp, the coalesced group and the grid.
#pragma once

#include <type_traits>

#include "cpu_backend/grid.hpp"
#include "cpu_backend/synchronization.hpp"

namespace cooperative_groups {

using place = cpu_backend::place;

class thread_block {
 public:
  // Called by all threads of the block that have not returned.
  void sync(place at = CPU_BACKEND_HERE) const { __syncthreads(at); }

  static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned size() { return num_threads(); }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_index() { return blockIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

// `Size` consecutive lanes of one warp. Every member function but thread_rank and the sizes is
// called by all lanes of the tile that have not returned. Parent says what the tile was cut out of;
// `void` is any.
template <unsigned Size, class Parent = void>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "the CPU backend has tiles of 1, 2, 4, 8, 16 or 32 threads");

 public:
  // For tiled_partition: the calling thread's tile of a parent of `parent_threads` threads, in
  // which it has the rank `parent_rank`.
  thread_block_tile(unsigned parent_rank, unsigned parent_threads)
      : meta_group_rank_(parent_rank / Size),
        meta_group_size_((parent_threads + Size - 1) / Size) {}
  // thread_block_tile<32> tile = tiled_partition<32>(block);
  template <class Other>
  requires(std::is_void_v<Parent> && !std::is_void_v<Other>)
      thread_block_tile(const thread_block_tile<Size, Other>& tile)
      : meta_group_rank_(tile.meta_group_rank()), meta_group_size_(tile.meta_group_size()) {}

  void sync(place at = CPU_BACKEND_HERE) const { __syncwarp(mask(), at); }

  static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  // Which of the parent's tiles this is, and how many there are.
  unsigned meta_group_rank() const { return meta_group_rank_; }
  unsigned meta_group_size() const { return meta_group_size_; }

  template <class T>
  T shfl(T value, int source, place at = CPU_BACKEND_HERE) const {
    return __shfl_sync(mask(), value, source, Size, at);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, place at = CPU_BACKEND_HERE) const {
    return __shfl_up_sync(mask(), value, delta, Size, at);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, place at = CPU_BACKEND_HERE) const {
    return __shfl_down_sync(mask(), value, delta, Size, at);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, place at = CPU_BACKEND_HERE) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), Size, at);
  }
  int any(int condition, place at = CPU_BACKEND_HERE) const {
    return __any_sync(mask(), condition, at);
  }
  int all(int condition, place at = CPU_BACKEND_HERE) const {
    return __all_sync(mask(), condition, at);
  }
  // Bit i is for the tile's thread i.
  unsigned ballot(int condition, place at = CPU_BACKEND_HERE) const {
    return __ballot_sync(mask(), condition, at) >> first_lane();
  }
  template <class T>
  unsigned match_any(T value, place at = CPU_BACKEND_HERE) const {
    return __match_any_sync(mask(), value, at) >> first_lane();
  }

  // The tile's lanes as the `_sync` functions name them.
  static unsigned mask() {
    if constexpr (Size == 32) return cpu_backend::full_mask;
    return ((1u << (Size & 31)) - 1) << first_lane();
  }

 private:
  static unsigned first_lane() { return thread_block::thread_rank() % 32 / Size * Size; }

  unsigned meta_group_rank_;
  unsigned meta_group_size_;
};

template <unsigned Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return {block.thread_rank(), block.num_threads()};
}
template <unsigned Size, unsigned Larger, class Parent>
thread_block_tile<Size, thread_block_tile<Larger, Parent>> tiled_partition(
    const thread_block_tile<Larger, Parent>& tile) {
  static_assert(Size < Larger, "a tile is cut out of a larger one");
  return {tile.thread_rank(), tile.num_threads()};
}

// The lanes that run together: on this backend each by itself, which CUDA allows at any time.
class coalesced_group {
 public:
  void sync() const {}
  static unsigned thread_rank() { return 0; }
  static unsigned num_threads() { return 1; }
  static unsigned size() { return 1; }
  template <class T>
  T shfl(T value, int) const {
    return value;
  }
  template <class T>
  T shfl_up(T value, int) const {
    return value;
  }
  template <class T>
  T shfl_down(T value, int) const {
    return value;
  }
  int any(int condition) const { return condition != 0; }
  int all(int condition) const { return condition != 0; }
  unsigned ballot(int condition) const { return condition != 0; }
  template <class T>
  unsigned match_any(T) const {
    return 1;
  }
};
inline coalesced_group coalesced_threads() { return {}; }

class grid_group {
 public:
  // True in a kernel that cudaLaunchCooperativeKernel launched.
  bool is_valid(place at = CPU_BACKEND_HERE) const {
    return cpu_backend::in_kernel("grid_group::is_valid()", at).running_grid().cooperative;
  }

  // Called by all threads of all blocks of a cooperative launch.
  void sync(place at = CPU_BACKEND_HERE) const {
    auto& on = cpu_backend::in_kernel("grid_group::sync()", at);
    if (!is_valid(at)) {
      on.fail(cudaErrorLaunchFailure, [&] {
        return "grid_group::sync() at " + cpu_backend::describe(at) +
               " in a kernel that was not launched by cudaLaunchCooperativeKernel";
      });
    }
    on.block_barrier(at);
    if (thread_block::thread_rank() == 0) cpu_backend::grid_barrier(on, at);
    on.block_barrier(at);
  }

  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
};

inline grid_group this_grid() { return {}; }

template <class Group>
void sync(const Group& group, place at = CPU_BACKEND_HERE) {
  group.sync(at);
}

}  // namespace cooperative_groups
