// SPDX-License-Identifier: MIT
// Chapter 08 on compute capability 9.0 and newer: bulk copies bring tiles to shared memory, so that
// most of the memory's bandwidth is used although no thread holds loads in registers. For sources
// that only nvcc compiles, because the CPU backend and the race checker have no bulk copies. The
// look-back is look_back.cuh's, which they check.
#pragma once

#include <cuda_runtime.h>
#include <cuda/barrier>
#include <cuda/cmath>
#include <cuda/ptx>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "01_vector_add/packet.cuh"
#include "01_vector_add/vector_add.cuh"
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/look_back.cuh"
#include "08_look_back_scan/look_back_memory.cuh"
#include "08_look_back_scan/look_back_scan.cuh"
#include "08_look_back_scan/warp_scan.cuh"
#include "lab/check.cuh"

namespace course {

// The shape of a tile of Ts. Each thread has neighbouring packets of 16 bytes, an odd number of
// them: so those that eight lanes read at once lie in different banks.
template <class T, unsigned threads_of_block, unsigned packets_of_thread>
struct bulk_tile {
  static_assert(threads_of_block % warp_size == 0 && packets_of_thread % 2 == 1);
  static constexpr unsigned threads = threads_of_block;
  static constexpr unsigned warps = threads / warp_size;
  static constexpr unsigned packets = packets_of_thread;
  static constexpr unsigned bytes = 16 * threads * packets;
  static constexpr unsigned elements = bytes / sizeof(T);
  // Of the 227 KiB that an SM of compute capability 9.0 has for blocks; 1 KiB a block is CUDA's
  // own.
  static constexpr unsigned blocks_of_sm = 227 * 1024 / (bytes + 2 * 1024);
};

// 52 KiB: an SM has four blocks, of which some load while others store.
template <class T>
using small_bulk_tile = bulk_tile<T, 256, 13>;

// 216 KiB: an SM has one block. A quarter of the look-backs.
template <class T>
using large_bulk_tile = bulk_tile<T, 512, 27>;

// Calls work(tile), with the shape of tile that was faster for n Ts where that was measured.
template <class T, class Work>
auto with_bulk_tile(std::size_t n, Work work) {
  constexpr std::size_t long_array = std::size_t{1} << 27;  // In bytes.
  return n < long_array / sizeof(T) ? work(small_bulk_tile<T>{}) : work(large_bulk_tile<T>{});
}

// One tile in the shared memory of a block of Tile::threads threads: its first `count` elements, at
// least 1. Every thread calls the functions, in this order.
template <class T, class Tile, class Operation>
class tile_in_shared_memory {
 public:
  __device__ tile_in_shared_memory(packet<T>* tile, T* warp_values, unsigned count,
                                   Operation operation)
      : tile_(tile), warp_values_(warp_values), count_(count), operation_(operation) {}

  // The packets of the calling thread's warp that are there as a whole, for a bulk copy.
  __device__ static unsigned whole_packets(unsigned warp, unsigned count) {
    const unsigned begin = warp * packets_of_warp;
    const unsigned all = count / width;
    return all <= begin ? 0 : all - begin < packets_of_warp ? all - begin : packets_of_warp;
  }

  // The elements behind the last whole packet, which a bulk copy can't bring: the thread that has
  // them loads them. `in` leads to the tile's first element.
  __device__ void load_rest(const T* in) {
    for (unsigned i = count_ - count_ % width; i < count_; ++i) {
      if (i / elements_of_thread == threadIdx.x) tile_[i / width].element[i % width] = in[i];
    }
  }

  // Combines each thread's elements in place, and then the threads' of each warp.
  __device__ void scan_threads() {
    T sum{};
    packet<T>* const mine = tile_ + threadIdx.x * Tile::packets;
    if (count_ == Tile::elements) {
#pragma unroll
      for (unsigned k = 0; k < Tile::packets; ++k) {
        packet<T> values = mine[k];
        // First within the packet, so that the chain through all packets has one step for each.
#pragma unroll
        for (unsigned j = 1; j < width; ++j)
          values.element[j] = operation_(values.element[j - 1], values.element[j]);
#pragma unroll
        for (unsigned j = 0; j < width; ++j)
          if (k > 0) values.element[j] = operation_(sum, values.element[j]);
        sum = values.element[width - 1];
        mine[k] = values;
      }
    } else {
      for (unsigned i = 0; i < count_of_thread(); ++i) {
        T& value = mine[i / width].element[i % width];
        if (i > 0) value = operation_(sum, value);
        sum = value;
      }
    }
    const unsigned warp_begin = warp() * elements_of_warp;
    const unsigned live =
        count_ <= warp_begin
            ? 0
            : min(warp_size, cuda::ceil_div(count_ - warp_begin, elements_of_thread));
    sum = warp_scan(sum, live, operation_);
    before_lane_ = value_of_lane(sum, lane() == 0 ? 0 : lane() - 1);
    if (lane() + 1 == live) warp_values_[warp()] = sum;
    __syncthreads();
  }

  // What comes before each warp, once the first warp knows what comes before the tile: it asks
  // before_tile(aggregate). If has_before is false, nothing does.
  template <class BeforeTile>
  __device__ void look_back(bool has_before, BeforeTile before_tile) {
    if (warp() == 0) {
      const unsigned live = cuda::ceil_div(count_, elements_of_warp);
      T sum{};
      if (lane() < live)
        sum = warp_values_[lane()];  // No lane reads what another one writes below.
      sum = warp_scan(sum, live, operation_);
      const T earlier_tiles = before_tile(value_of_lane(sum, live - 1));
      T before = value_of_lane(sum, lane() == 0 ? 0 : lane() - 1);
      if (has_before && lane() < live)
        before = lane() == 0 ? earlier_tiles : operation_(earlier_tiles, before);
      if (lane() < live) warp_values_[lane()] = before;
    }
    __syncthreads();
    warp_has_before_ = has_before || warp() > 0;
  }

  // Writes the scanned tile to `out`, which leads to its first element and is a multiple of 16.
  // The results are not read soon: they needn't displace the input of other tiles in the cache.
  __device__ void store(T* out) {
    if (count_ <= warp() * elements_of_warp) return;
    T before = warp_values_[warp()];
    if (lane() > 0 && count_of_thread() > 0)
      before = warp_has_before_ ? operation_(before, before_lane_) : before_lane_;
    const unsigned first = warp() * packets_of_warp;
    // All 27 of the larger tile would take more registers than a thread has.
    constexpr unsigned at_once = Tile::packets <= 13 ? Tile::packets : 9;
#pragma unroll at_once
    for (unsigned row = 0; row < Tile::packets; ++row) {
      const unsigned i = row * warp_size + lane();  // Neighbouring lanes write neighbours.
      const unsigned owner = i / Tile::packets;
      const T before_owner = value_of_lane(before, owner);
      packet<T> values = tile_[first + i];
      const unsigned begin = (first + i) * width;
#pragma unroll
      for (unsigned j = 0; j < width; ++j) {
        if ((warp_has_before_ || owner > 0) && begin + j < count_)
          values.element[j] = operation_(before_owner, values.element[j]);
      }
      if (begin + width <= count_) {
        __stcs(reinterpret_cast<int4*>(out + begin), *reinterpret_cast<const int4*>(&values));
      } else {
        for (unsigned j = 0; j < width && begin + j < count_; ++j)
          out[begin + j] = values.element[j];
      }
    }
  }

  static constexpr unsigned packets_of_warp = warp_size * Tile::packets;

 private:
  static constexpr unsigned width = packet<T>::size;
  static constexpr unsigned elements_of_thread = Tile::packets * width;
  static constexpr unsigned elements_of_warp = warp_size * elements_of_thread;

  __device__ static unsigned lane() { return threadIdx.x % warp_size; }
  __device__ static unsigned warp() { return threadIdx.x / warp_size; }

  __device__ unsigned count_of_thread() const {
    const unsigned begin = threadIdx.x * elements_of_thread;
    return count_ <= begin ? 0 : min(elements_of_thread, count_ - begin);
  }

  packet<T>* tile_;
  T* warp_values_;  // Of each warp: what it combines to, and then what comes before it.
  unsigned count_;
  Operation operation_;
  T before_lane_{};
  bool warp_has_before_ = false;
};

// For a grid of a block of Tile::threads threads per tile, each with Tile::bytes of dynamic shared
// memory. May be a programmatic dependent launch: it takes its tickets before it waits, so that
// `earlier_tiles` must have memory that the launch before does not use (fast.md).
template <class Tile, class T, class Operation>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_of_sm)
    scan_bulk_tiles(const T* in, T* out, std::size_t n, Operation operation,
                    look_back<T> earlier_tiles) {
#if __CUDA_ARCH__ >= 900  // require_bulk_copies() refuses a kernel that was compiled for less.
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  using tile = tile_in_shared_memory<T, Tile, Operation>;
  extern __shared__ __align__(128) unsigned char shared_bytes[];
  auto* const packets = reinterpret_cast<packet<T>*>(shared_bytes);
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier landed[Tile::warps];  // A warp goes on as soon as its own part is there.
  __shared__ tile_ticket mine;
  __shared__ T warp_values[Tile::warps];

  const auto count_of = [n](unsigned number) {
    const std::size_t left = n - std::size_t{number} * Tile::elements;
    return left < Tile::elements ? static_cast<unsigned>(left) : Tile::elements;
  };
  if (threadIdx.x == 0) {
    for (barrier& each : landed) init(&each, 1);
    // The copies belong to another proxy, which must find the barriers ready.
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    mine = earlier_tiles.take_ticket(gridDim.x);
  }
  // Both without effect in any other launch.
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
  if (threadIdx.x == 0) {
    const auto* const from =
        reinterpret_cast<const packet<T>*>(in + std::size_t{mine.tile} * Tile::elements);
    for (unsigned warp = 0; warp < Tile::warps; ++warp) {
      const unsigned first = warp * tile::packets_of_warp;
      const unsigned bytes = 16 * tile::whole_packets(warp, count_of(mine.tile));
      if (bytes > 0) {
        cuda::device::memcpy_async_tx(packets + first, from + first,
                                      cuda::aligned_size_t<16>(bytes), landed[warp]);
      }
      (void)cuda::device::barrier_arrive_tx(landed[warp], 1, bytes);
    }
  }
  __syncthreads();  // The ticket and the barriers are there.

  tile here(packets, warp_values, count_of(mine.tile), operation);
  here.load_rest(in + std::size_t{mine.tile} * Tile::elements);
  landed[threadIdx.x / warp_size].wait_parity(false);
  here.scan_threads();
  here.look_back(mine.tile > 0, [&](const T& aggregate) {
    T before = aggregate;
    earlier_tiles.exclusive_prefix(mine, aggregate, operation, &before);
    return before;
  });
  here.store(out + std::size_t{mine.tile} * Tile::elements);
#endif
}

// The tiles of n elements. Throws std::invalid_argument if no grid has as many blocks.
template <class T>
unsigned bulk_tiles_of(std::size_t n) {
  return with_bulk_tile<T>(n, [=](auto tile) { return covering_blocks(n, tile.elements); });
}

// Whether the device has bulk copies and an SM with room for the larger tile, and the kernel was
// compiled for it. Errors: lab::cuda_error.
template <class T, class Operation>
bool has_bulk_copies() {
  using tile = large_bulk_tile<T>;
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, scan_bulk_tiles<tile, T, Operation>));
  int device = 0;
  int room = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return attributes.ptxVersion >= 90 &&
         tile::bytes + attributes.sharedSizeBytes <= static_cast<std::size_t>(room);
}

// The kernel for tiles of this shape, allowed to have their shared memory. Errors: lab::cuda_error.
template <class Tile, class T, class Operation>
auto* prepared_bulk_kernel() {
  auto* const kernel = scan_bulk_tiles<Tile, T, Operation>;
  CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::bytes));
  return kernel;
}

// bulk_inclusive_scan, but in tiles of this shape; `memory` is for that many.
template <class Tile, class T, class Operation>
void bulk_inclusive_scan_in(const T* in, T* out, std::size_t n, Operation operation,
                            look_back_memory<T>& memory, cudaStream_t stream = nullptr) {
  const auto is_aligned = [](const T* array) {
    return reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
  };
  refuse_overlap(in, n * sizeof(T), out, n * sizeof(T), true);
  if (!is_aligned(in) || !is_aligned(out))
    throw std::invalid_argument("bulk copies need arrays that begin at a multiple of 16 bytes");
  if (!has_bulk_copies<T, Operation>())
    throw std::invalid_argument(
        "this scan needs compute capability 9.0 and 217 KiB of shared memory");
  if (n == 0) return;
  const unsigned tiles = covering_blocks(n, Tile::elements);
  prepared_bulk_kernel<Tile, T, Operation>()<<<tiles, Tile::threads, Tile::bytes, stream>>>(
      in, out, n, operation, memory.access(tiles));
  CUDA_CHECK(cudaGetLastError());
}

// out[i] = in[0] operation ... operation in[i], for numbers: inclusive_scan with its contract, but
// in and out are multiples of 16, which else throws std::invalid_argument, as does a device without
// has_bulk_copies(). `memory` is for bulk_tiles_of<T>(n) tiles.
template <class T, class Operation>
void bulk_inclusive_scan(const T* in, T* out, std::size_t n, Operation operation,
                         look_back_memory<T>& memory, cudaStream_t stream = nullptr) {
  with_bulk_tile<T>(n, [&](auto tile) {
    bulk_inclusive_scan_in<decltype(tile)>(in, out, n, operation, memory, stream);
  });
}

}  // namespace course
