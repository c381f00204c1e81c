// SPDX-License-Identifier: MIT
// Chapter 08, made fast: scans of any type and operation. A tile is loaded once, 16 bytes at a
// time, and stays in the registers of its block until it is written; one warp looks back.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "01_vector_add/packet.cuh"
#include "01_vector_add/vector_add.cuh"
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/look_back.cuh"
#include "08_look_back_scan/look_back_memory.cuh"
#include "08_look_back_scan/look_back_scan.cuh"
#include "08_look_back_scan/warp_scan.cuh"
#include "lab/check.cuh"

namespace course {

enum class scan_kind {
  inclusive,  // out[i] is made of in[0] to in[i].
  exclusive   // out[i] is made of an initial value and of in[0] to in[i - 1].
};

// In which order the tiles' aggregates are combined.
enum class tile_order {
  as_published,  // As the other blocks come along: a rounded sum may differ from run to run.
  fixed          // The same in every run.
};

// How many elements a thread loads at once: 16 bytes of numbers, or one element of another type.
template <class T>
constexpr unsigned elements_of_packet() {
  if constexpr (std::is_arithmetic_v<T>) return packet<T>::size;
  return 1;
}

// What the threads of a block share for a tile.
template <class T, unsigned threads>
struct tile_memory {
  T totals[threads / warp_size];  // Of each warp.
  T before[threads / warp_size];  // What comes before each warp; [0]: before the tile.
};

// One tile in the registers of a block of `threads` threads, a multiple of 32. Each warp has
// neighbouring elements, in `rows` rows: in a row each lane has a packet of 16 bytes, or a single
// element of a type of which packets can't be made.
// `is_full`: all elements are there. Else the tile has the first `count`, at least 1, and
// `operation` is never called for those that are missing.
template <class T, unsigned threads, bool is_full>
class tile_in_registers {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>,
                "no thread runs constructors for shared memory");
  static_assert(threads % warp_size == 0 && threads <= largest_block);

  static constexpr unsigned width = elements_of_packet<T>();
  static constexpr unsigned rows = 8;
  static constexpr unsigned warps = threads / warp_size;
  using memory = tile_memory<T, threads>;
  static constexpr unsigned elements_of_warp = rows * warp_size * width;

 public:
  static constexpr unsigned elements = warps * elements_of_warp;

  // Every thread of the one-dimensional block calls each of the following, in this order; between
  // store() and the next tile's scan() lies a barrier.

  // `in` leads to the tile's first element, `shared` to shared memory.
  __device__ tile_in_registers(const T* in, unsigned count, memory& shared)
      : shared_(shared), count_(count) {
    if constexpr (is_full && width > 1) {
      if (is_packet_aligned(in)) {
        // All loads in one piece of code without a branch, so that they are in flight together.
        const auto* const packets = reinterpret_cast<const packet<T>*>(in);
        packet<T> loaded[rows];
#pragma unroll
        for (unsigned row = 0; row < rows; ++row) loaded[row] = packets[first(row) / width];
#pragma unroll
        for (unsigned row = 0; row < rows; ++row) {
          for (unsigned k = 0; k < width; ++k) value_[row][k] = loaded[row].element[k];
        }
        return;
      }
    }
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
#pragma unroll
      for (unsigned k = 0; k < width; ++k) {
        value_[row][k] = k < count_of_lane(row) ? in[first(row) + k] : T{};
      }
    }
  }

  // Combines the elements, as far as it goes without the earlier tiles. Returns to the first warp
  // what the whole tile combines to.
  template <class Operation>
  __device__ T scan(Operation operation) {
    T total = value_[0][0];
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) scan_row(row, operation, total);
    if (lane() == 0) shared_.totals[warp()] = total;
    __syncthreads();
    T aggregate = total;
    if (warp() == 0) {
      const unsigned live = is_full ? warps : cuda::ceil_div(count_, elements_of_warp);
      const T totals = warp_scan(shared_.totals[lane() < live ? lane() : 0], live, operation);
      aggregate = value_of_lane(totals, live - 1);
      const T before = value_of_lane(totals, lane() == 0 ? 0 : lane() - 1);
      if (lane() > 0 && lane() < live) shared_.before[lane()] = before;
    }
    return aggregate;
  }

  // Writes the scanned tile to `out`, which leads to its first element. Thread 0 brings
  // `before_tile`, what comes before all elements of the tile; without has_before, nothing does.
  template <scan_kind kind, class Operation>
  __device__ void store(T* out, bool has_before, const T& before_tile, Operation operation) {
    if (threadIdx.x == 0) shared_.before[0] = before_tile;
    __syncthreads();
    T before_warp = shared_.before[0];
    const bool warp_has_before = has_before || warp() > 0;
    if (warp() > 0 && count_of_lane(0, 0) > 0) {
      before_warp =
          has_before ? operation(before_warp, shared_.before[warp()]) : shared_.before[warp()];
    }
    const bool is_aligned = is_packet_aligned(out);
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      if (count_of_lane(row) == 0) continue;
      T before = before_warp;
      const bool lane_has_before = row > 0 || lane() > 0;
      if (lane_has_before) {
        before = warp_has_before ? operation(before_warp, before_[row]) : before_[row];
      }
      T result[width];
#pragma unroll
      for (unsigned k = 0; k < width; ++k) {
        result[k] = value_[row][k];
        if (k >= count_of_lane(row)) continue;
        if constexpr (kind == scan_kind::exclusive) {
          result[k] = k == 0 ? before : operation(before, value_[row][k - 1]);
        } else if (warp_has_before || lane_has_before) {
          result[k] = operation(before, value_[row][k]);
        }
      }
      write(out + first(row), result, count_of_lane(row), is_aligned);
    }
  }

 private:
  __device__ static bool is_packet_aligned(const T* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  }
  __device__ static unsigned lane() { return threadIdx.x % warp_size; }
  __device__ static unsigned warp() { return threadIdx.x / warp_size; }
  __device__ static unsigned first(unsigned row, unsigned lane_of_warp) {
    return warp() * elements_of_warp + (row * warp_size + lane_of_warp) * width;
  }
  __device__ static unsigned first(unsigned row) { return first(row, lane()); }

  // How many elements a lane of this warp has in the row.
  __device__ unsigned count_of_lane(unsigned row, unsigned lane_of_warp) const {
    if constexpr (is_full) return width;
    const unsigned begin = first(row, lane_of_warp);
    return begin >= count_ ? 0 : count_ - begin < width ? count_ - begin : width;
  }
  __device__ unsigned count_of_lane(unsigned row) const { return count_of_lane(row, lane()); }

  // `total` is what the earlier rows combine to, and then this one too.
  template <class Operation>
  __device__ void scan_row(unsigned row, Operation operation, T& total) {
    if (count_of_lane(row, 0) == 0) return;  // For the whole warp.
    T sum = value_[row][0];
#pragma unroll
    for (unsigned k = 1; k < width; ++k) {
      if (k >= count_of_lane(row)) continue;
      sum = operation(sum, value_[row][k]);
      value_[row][k] = sum;
    }
    unsigned live = warp_size;
    if constexpr (!is_full) {
      const unsigned left = count_ - first(row, 0);
      live = left < warp_size * width ? cuda::ceil_div(left, width) : warp_size;
    }
    sum = warp_scan(sum, live, operation);
    const T before = value_of_lane(sum, lane() == 0 ? 0 : lane() - 1);
    const T row_total = value_of_lane(sum, live - 1);
    before_[row] = row == 0 || lane() >= live ? before
                   : lane() == 0              ? total
                                              : operation(total, before);
    total = row == 0 ? row_total : operation(total, row_total);
  }

  __device__ static void write(T* out, const T (&result)[width], unsigned count, bool is_aligned) {
    if constexpr (is_full && width > 1) {
      if (is_aligned) {
        packet<T> stored;
#pragma unroll
        for (unsigned k = 0; k < width; ++k) stored.element[k] = result[k];
        *reinterpret_cast<packet<T>*>(out) = stored;
        return;
      }
    }
#pragma unroll
    for (unsigned k = 0; k < width; ++k) {
      if (k < count) out[k] = result[k];
    }
  }

  memory& shared_;
  unsigned count_;
  T value_[rows][width];  // In each packet scanned.
  T before_[rows];  // What comes before the packet in this warp's part; of the first one: nothing.
};

inline constexpr unsigned scan_threads = 256;  // In a block.

template <class T>
inline constexpr unsigned scan_tile_elements = tile_in_registers<T, scan_threads, true>::elements;

// The tiles of n elements. Throws std::invalid_argument if no grid has as many blocks.
template <class T>
unsigned scan_tiles_of(std::size_t n) {
  return covering_blocks(n, scan_tile_elements<T>);
}

// How many rounded operations an element passes through at most (see lab::sum_error_bound) in one
// tile: its packet, the rows, the lanes, the warps, and four that bring it to a result.
template <class T>
constexpr std::uint64_t scan_longest_chain_in_tile() {
  return elements_of_packet<T>() + 8 + 5 + 5 + 4;
}

// The same in a scan of `tiles` tiles by look-back.
// - As published: from one tile's prefix to a later one's, at most 5 in each window of 32 tiles, 1
//   for each window, and 1 more. So at most 7 for each tile.
// - Fixed: 5 in a group of 32 tiles, and 2 on the way from one group's prefix to the next one's.
template <class T>
std::uint64_t scan_longest_chain(std::uint64_t tiles, tile_order order) {
  const std::uint64_t steps =
      order == tile_order::fixed ? cuda::ceil_div(tiles, std::uint64_t{32}) : tiles;
  return scan_longest_chain_in_tile<T>() + 7 * steps;
}

// The same in three kernels: one more for each tile of tiles.
template <class T>
std::uint64_t scan_longest_chain_in_three_kernels(std::uint64_t tiles) {
  return 2 * scan_longest_chain_in_tile<T>() + tiles / scan_tile_elements<T>;
}

// Calls work(tile_in_registers), with the elements of tile number `tile` of `in`.
template <class T, class Work>
__device__ void with_tile(const T* in, std::size_t n, unsigned tile,
                          tile_memory<T, scan_threads>& shared, Work work) {
  constexpr unsigned elements = scan_tile_elements<T>;
  const std::size_t first = std::size_t{tile} * elements;
  if (n - first >= elements) {
    work(tile_in_registers<T, scan_threads, true>(in + first, elements, shared));
  } else {
    work(tile_in_registers<T, scan_threads, false>(in + first, static_cast<unsigned>(n - first),
                                                   shared));
  }
}

// ---- One kernel

// For all threads of a grid of scan_tiles_of<T>(n) blocks of scan_threads threads, whose block has
// the ticket `mine`. `initial` is for exclusive scans.
template <scan_kind kind, tile_order order, class T, class Operation>
__device__ void scan_tile(const T* in, T* out, std::size_t n, const T& initial, Operation operation,
                          const look_back<T>& earlier_tiles, tile_ticket mine) {
  __shared__ tile_memory<T, scan_threads> shared;
  with_tile(in, n, mine.tile, shared, [&](auto tile) {
    const T aggregate = tile.scan(operation);
    T before = aggregate;  // A T may have no default constructor.
    if (threadIdx.x < warp_size) {
      if constexpr (order == tile_order::fixed) {
        earlier_tiles.exclusive_prefix_in_fixed_order(mine, aggregate, operation, &before);
      } else {
        earlier_tiles.exclusive_prefix(mine, aggregate, operation, &before);
      }
    }
    bool has_before = mine.tile > 0;
    if constexpr (kind == scan_kind::exclusive) {
      // Only thread 0 brings it, and only the first warp has it.
      if (threadIdx.x == 0) before = has_before ? operation(initial, before) : initial;
      has_before = true;
    }
    tile.template store<kind>(out + std::size_t{mine.tile} * tile.elements, has_before, before,
                              operation);
  });
}

template <scan_kind kind, tile_order order, class T, class Operation>
__global__ void __launch_bounds__(scan_threads)
    scan_registers(const T* in, T* out, std::size_t n, T initial, Operation operation,
                   look_back<T> earlier_tiles) {
  const tile_ticket mine = earlier_tiles.take_tile(gridDim.x);
  scan_tile<kind, order>(in, out, n, initial, operation, earlier_tiles, mine);
}

// The launches of this file run in `stream` and do not wait. in and out are arrays of n elements
// that the device can reach, of any alignment. out may be in, and must not overlap it in any other
// way: that throws std::invalid_argument. `operation` is associative; the earlier value is on its
// left. T is trivially copyable and trivially default constructible. Throw std::invalid_argument if
// no grid is large enough, std::length_error if the working memory is for fewer than
// scan_tiles_of<T>(n) tiles, and lab::cuda_error if a launch is refused.

template <scan_kind kind, tile_order order, class T, class Operation>
void launch_scan(const T* in, T* out, std::size_t n, T initial, Operation operation,
                 look_back_memory<T>& memory, cudaStream_t stream) {
  refuse_overlap(in, n * sizeof(T), out, n * sizeof(T), true);
  if (n == 0) return;
  const unsigned tiles = scan_tiles_of<T>(n);
  scan_registers<kind, order>
      <<<tiles, scan_threads, 0, stream>>>(in, out, n, initial, operation, memory.access(tiles));
  CUDA_CHECK(cudaGetLastError());
}

// out[i] = in[0] operation ... operation in[i].
template <tile_order order = tile_order::as_published, class T, class Operation>
void inclusive_scan(const T* in, T* out, std::size_t n, Operation operation,
                    look_back_memory<T>& memory, cudaStream_t stream = nullptr) {
  launch_scan<scan_kind::inclusive, order>(in, out, n, T{}, operation, memory, stream);
}

// out[i] = initial operation in[0] operation ... operation in[i - 1]; out[0] = initial.
template <tile_order order = tile_order::as_published, class T, class Operation>
void exclusive_scan(const T* in, T* out, std::size_t n, std::type_identity_t<T> initial,
                    Operation operation, look_back_memory<T>& memory,
                    cudaStream_t stream = nullptr) {
  launch_scan<scan_kind::exclusive, order>(in, out, n, initial, operation, memory, stream);
}

// ---- Three kernels

// prefixes[k] becomes what tile k combines to. For a grid of scan_tiles_of<T>(n) blocks of
// scan_threads threads.
template <class T, class Operation>
__global__ void __launch_bounds__(scan_threads)
    reduce_tiles(const T* in, std::size_t n, Operation operation, T* prefixes) {
  __shared__ tile_memory<T, scan_threads> shared;
  with_tile(in, n, blockIdx.x, shared, [&](auto tile) {
    const T aggregate = tile.scan(operation);
    if (threadIdx.x == 0) prefixes[blockIdx.x] = aggregate;
  });
}

// An inclusive scan in place, by one block of scan_threads threads.
template <class T, class Operation>
__global__ void __launch_bounds__(scan_threads)
    scan_by_one_block(T* values, std::size_t n, Operation operation) {
  __shared__ tile_memory<T, scan_threads> shared;
  T before{};
  const auto tiles = static_cast<unsigned>(cuda::ceil_div(n, std::size_t{scan_tile_elements<T>}));
  for (unsigned k = 0; k < tiles; ++k) {
    with_tile(values, n, k, shared, [&](auto tile) {
      const T aggregate = tile.scan(operation);
      T* const first = values + std::size_t{k} * tile.elements;
      tile.template store<scan_kind::inclusive>(first, k > 0, before, operation);
      // Thread 0's counts. In the last tile other warps may have no element.
      if (threadIdx.x == 0) before = k > 0 ? operation(before, aggregate) : aggregate;
    });
    __syncthreads();  // All have read `shared`.
  }
}

// prefixes[k] is what the tiles up to k combine to. For the same grid as reduce_tiles.
template <class T, class Operation>
__global__ void __launch_bounds__(scan_threads)
    scan_after_prefixes(const T* in, T* out, std::size_t n, Operation operation,
                        const T* prefixes) {
  __shared__ tile_memory<T, scan_threads> shared;
  const bool has_before = blockIdx.x > 0;
  with_tile(in, n, blockIdx.x, shared, [&](auto tile) {
    const T aggregate = tile.scan(operation);
    const T before = has_before ? prefixes[blockIdx.x - 1] : aggregate;
    tile.template store<scan_kind::inclusive>(out + std::size_t{blockIdx.x} * tile.elements,
                                              has_before, before, operation);
  });
}

// inclusive_scan in three kernels: the same bits in every run. prefixes has scan_tiles_of<T>(n)
// elements to work in.
template <class T, class Operation>
void inclusive_scan_in_three_kernels(const T* in, T* out, std::size_t n, Operation operation,
                                     T* prefixes, cudaStream_t stream = nullptr) {
  refuse_overlap(in, n * sizeof(T), out, n * sizeof(T), true);
  if (n == 0) return;
  const unsigned tiles = scan_tiles_of<T>(n);
  reduce_tiles<<<tiles, scan_threads, 0, stream>>>(in, n, operation, prefixes);
  CUDA_CHECK(cudaGetLastError());
  scan_by_one_block<<<1, scan_threads, 0, stream>>>(prefixes, tiles, operation);
  CUDA_CHECK(cudaGetLastError());
  scan_after_prefixes<<<tiles, scan_threads, 0, stream>>>(in, out, n, operation, prefixes);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
