// SPDX-License-Identifier: MIT
// Cooperative groups: the thread block, tiles and other parts of a warp, and the grid.
#pragma once

#include <cstring>
#include <type_traits>

#include "cpu_backend/device_functions/synchronization.hpp"
#include "cpu_backend/multiprocessor.hpp"

namespace cooperative_groups {

using place = cpu_backend::place;

// Values of any size are shuffled word by word; shuffle_word(word) moves one.
template <class T, class ShuffleWord>
T shuffled(const T& value, ShuffleWord shuffle_word) {
  if constexpr (std::is_arithmetic_v<T>) {
    return shuffle_word(value);
  } else {
    static_assert(std::is_trivially_copyable_v<T>,
                  "a group shuffles types that are trivially copyable");
    constexpr std::size_t words = (sizeof(T) + 7) / 8;
    unsigned long long parts[words] = {};
    std::memcpy(parts, &value, sizeof value);
    for (unsigned long long& part : parts) part = shuffle_word(part);
    T result = value;
    std::memcpy(static_cast<void*>(&result), parts, sizeof result);
    return result;
  }
}

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
  static bool is_valid() { return true; }
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
      : meta_group_rank_(parent_rank / Size), meta_group_size_((parent_threads + Size - 1) / Size) {
    if (parent_threads % Size != 0) cpu_backend::form::used("device", "partial_tile");
  }
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
    return shuffled(value, [&](auto word) { return __shfl_sync(mask(), word, source, Size, at); });
  }
  template <class T>
  T shfl_up(T value, unsigned delta, place at = CPU_BACKEND_HERE) const {
    return shuffled(value,
                    [&](auto word) { return __shfl_up_sync(mask(), word, delta, Size, at); });
  }
  template <class T>
  T shfl_down(T value, unsigned delta, place at = CPU_BACKEND_HERE) const {
    return shuffled(value,
                    [&](auto word) { return __shfl_down_sync(mask(), word, delta, Size, at); });
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, place at = CPU_BACKEND_HERE) const {
    return shuffled(value, [&](auto word) {
      return __shfl_xor_sync(mask(), word, static_cast<int>(lane_mask), Size, at);
    });
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

  template <class T>
  unsigned match_all(T value, int& all_equal, place at = CPU_BACKEND_HERE) const {
    return __match_all_sync(mask(), value, &all_equal, at) >> first_lane();
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

// Some lanes of one warp, numbered from the lowest on. Every member function but thread_rank and
// the sizes is called by all of them that have not returned.
class coalesced_group {
 public:
  explicit coalesced_group(unsigned mask, unsigned meta_group_rank = 0,
                           unsigned meta_group_size = 1)
      : mask_(mask), meta_group_rank_(meta_group_rank), meta_group_size_(meta_group_size) {}

  void sync(place at = CPU_BACKEND_HERE) const { __syncwarp(mask_, at); }
  unsigned thread_rank() const {
    return static_cast<unsigned>(__popc(mask_ & ((1u << (thread_block::thread_rank() % 32)) - 1)));
  }
  unsigned num_threads() const { return static_cast<unsigned>(__popc(mask_)); }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_rank() const { return meta_group_rank_; }
  unsigned meta_group_size() const { return meta_group_size_; }
  unsigned mask() const { return mask_; }

  template <class T>
  T shfl(T value, int source, place at = CPU_BACKEND_HERE) const {
    return from_lane(value, lane_of(static_cast<unsigned>(source) % num_threads()), at);
  }
  // A thread that reads beyond the group gets its own value.
  template <class T>
  T shfl_up(T value, unsigned delta, place at = CPU_BACKEND_HERE) const {
    const unsigned rank = thread_rank();
    return from_lane(value, lane_of(delta <= rank ? rank - delta : rank), at);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, place at = CPU_BACKEND_HERE) const {
    const unsigned rank = thread_rank();
    return from_lane(value, lane_of(delta < num_threads() - rank ? rank + delta : rank), at);
  }
  int any(int condition, place at = CPU_BACKEND_HERE) const {
    return __any_sync(mask_, condition, at);
  }
  int all(int condition, place at = CPU_BACKEND_HERE) const {
    return __all_sync(mask_, condition, at);
  }
  // Bit i is for the group's thread i.
  unsigned ballot(int condition, place at = CPU_BACKEND_HERE) const {
    return ranks_of(__ballot_sync(mask_, condition, at));
  }
  template <class T>
  unsigned match_any(T value, place at = CPU_BACKEND_HERE) const {
    return ranks_of(__match_any_sync(mask_, value, at));
  }
  template <class T>
  unsigned match_all(T value, int& all_equal, place at = CPU_BACKEND_HERE) const {
    return ranks_of(__match_all_sync(mask_, value, &all_equal, at));
  }

 private:
  // The lane of the thread of a rank.
  int lane_of(unsigned rank) const {
    unsigned left = mask_;
    for (; rank > 0; --rank) left &= left - 1;
    return __ffs(static_cast<int>(left)) - 1;
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0;
    for (unsigned left = mask_, rank = 0; left != 0; left &= left - 1, ++rank) {
      if (lanes & left & -left) ranks |= 1u << rank;
    }
    return ranks;
  }
  template <class T>
  T from_lane(const T& value, int lane, const place& at) const {
    return shuffled(value, [&](auto word) { return __shfl_sync(mask_, word, lane, 32, at); });
  }

  unsigned mask_;
  unsigned meta_group_rank_;
  unsigned meta_group_size_;
};

// The lanes that run together: on this backend each by itself, which CUDA allows at any time.
inline coalesced_group coalesced_threads(place at = CPU_BACKEND_HERE) {
  cpu_backend::form::used("device", "coalesced_threads()", &at);
  return coalesced_group(1u << (thread_block::thread_rank() % 32));
}

// The threads of a group that come with the same condition; called by all of the group. Of two
// parts false is the first.
template <class Group>
coalesced_group binary_partition(const Group& group, bool condition, place at = CPU_BACKEND_HERE) {
  const unsigned met = __ballot_sync(group.mask(), condition, at);
  if (met == 0 || met == group.mask()) return coalesced_group(group.mask(), 0, 1);
  return coalesced_group(condition ? met : group.mask() & ~met, condition, 2);
}

// The same for labels. Parts are numbered by their first threads.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, place at = CPU_BACKEND_HERE) {
  if constexpr (std::is_same_v<Label, bool>) {
    return binary_partition(group, label, at);
  } else {
    const unsigned equal = __match_any_sync(group.mask(), label, at);
    const unsigned first = equal & (0 - equal);
    const unsigned lane = 1U << (thread_block::thread_rank() % 32);
    const unsigned firsts = __ballot_sync(group.mask(), lane == first, at);
    return coalesced_group(equal, static_cast<unsigned>(__popc(firsts & (first - 1))),
                           static_cast<unsigned>(__popc(firsts)));
  }
}

// Any of the groups of one block, for functions that take whichever they are given.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  template <unsigned Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile)
      : mask_(tile.mask()),
        meta_group_rank_(tile.meta_group_rank()),
        meta_group_size_(tile.meta_group_size()) {}
  thread_group(const coalesced_group& group)
      : mask_(group.mask()),
        meta_group_rank_(group.meta_group_rank()),
        meta_group_size_(group.meta_group_size()) {}

  void sync(place at = CPU_BACKEND_HERE) const {
    if (is_block()) {
      __syncthreads(at);
    } else {
      __syncwarp(mask_, at);
    }
  }
  unsigned thread_rank() const {
    return is_block() ? thread_block::thread_rank() : lanes().thread_rank();
  }
  unsigned num_threads() const {
    return is_block() ? thread_block::num_threads() : lanes().num_threads();
  }
  unsigned size() const { return num_threads(); }
  unsigned meta_group_rank() const { return meta_group_rank_; }
  unsigned meta_group_size() const { return meta_group_size_; }
  bool is_valid() const { return true; }
  bool is_block() const { return mask_ == 0; }
  // For a part of a warp.
  coalesced_group lanes() const {
    return coalesced_group(mask_, meta_group_rank_, meta_group_size_);
  }

 private:
  unsigned mask_ = 0;
  unsigned meta_group_rank_ = 0;
  unsigned meta_group_size_ = 1;
};

// Tiles whose size only the program's run says: a power of two, at most 32.
inline thread_group tiled_partition(const thread_group& parent, unsigned size,
                                    place at = CPU_BACKEND_HERE) {
  if (size == 0 || size > 32 || (size & (size - 1)) != 0) {
    constexpr const char* operation = "tiled_partition()";
    cpu_backend::in_kernel(operation, at).fail_as("tile_size", at, operation, size);
  }
  if (parent.num_threads() % size != 0) cpu_backend::form::used("device", "partial_tile", &at);
  const unsigned rank = parent.thread_rank();
  const unsigned first = rank / size * size;
  const unsigned tiles = (parent.num_threads() + size - 1) / size;
  if (parent.is_block()) {
    const unsigned lanes = size == 32 ? cpu_backend::full_mask : (1u << size) - 1;
    return coalesced_group(lanes << (first % 32), rank / size, tiles);
  }
  // The lanes of a part of a warp that have the ranks of the tile.
  unsigned lanes = 0, number = 0;
  for (unsigned left = parent.lanes().mask(); left != 0; left &= left - 1, ++number) {
    if (number >= first && number < first + size) lanes |= left & -left;
  }
  return coalesced_group(lanes, rank / size, tiles);
}

class grid_group {
 public:
  // True in a kernel that cudaLaunchCooperativeKernel launched.
  bool is_valid(place at = CPU_BACKEND_HERE) const {
    return cpu_backend::in_kernel("grid_group::is_valid()", at).is_cooperative();
  }

  // Called by all threads of all blocks of a cooperative launch.
  void sync(place at = CPU_BACKEND_HERE) const {
    auto& on = cpu_backend::in_kernel("grid_group::sync()", at);
    if (!is_valid(at)) on.fail_as("grid_sync_of_ordinary_launch", at);
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
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}
// Calls the function in one thread of the group, whichever.
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  cpu_backend::form::used("device", "invoke_one()");
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

}  // namespace cooperative_groups
