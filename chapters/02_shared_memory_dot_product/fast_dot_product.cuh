// SPDX-License-Identifier: MIT
// Chapter 02's faster dot products, of any type: with block_reduce, with warp shuffles, and with
// sixteen bytes at a time.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "01_vector_add/packet.cuh"
#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "02_shared_memory_dot_product/loads_in_flight.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"
#include "lab/resident_blocks.cuh"

namespace course {

// The calling thread's share of the sum, grid-stride. For any one-dimensional grid.
template <class T>
__device__ T thread_dot(const T* a, const T* b, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  T sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    sum += a[i] * b[i];
  }
  return sum;
}

// The kernels below compute the same: partials[k] becomes block k's share of the sum of a[i] * b[i]
// over i < n. They take any one-dimensional grid and blocks of 1 to 1024 threads; partials has
// gridDim.x elements.

// Static shared memory: its size is fixed when the program is compiled, so it is that of the
// largest block, whatever the launch needs.
template <class T>
__global__ void dot_static_tree(const T* a, const T* b, std::size_t n, T* partials) {
  static_assert(std::is_trivially_default_constructible_v<T>,
                "no thread runs constructors for shared memory");
  __shared__ T shared[largest_block];
  const T sum = block_reduce(thread_dot(a, b, n), plus{}, shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// Dynamic shared memory: the launch says how much, blockDim.x elements of T. The array is declared
// in bytes because all instances of this template share the one name, which can have only one type.
template <class T>
__global__ void dot_dynamic_tree(const T* a, const T* b, std::size_t n, T* partials) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const T sum = block_reduce(thread_dot(a, b, n), plus{}, reinterpret_cast<T*>(shared_bytes));
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

template <class T>
__global__ void dot_shuffle(const T* a, const T* b, std::size_t n, T* partials) {
  static_assert(std::is_trivially_default_constructible_v<T>,
                "no thread runs constructors for shared memory");
  __shared__ T shared[largest_warp_count];
  const T sum = block_reduce_shuffle(thread_dot(a, b, n), plus{}, shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// Packets that a thread of dot_sixteen_bytes loads from each vector before it multiplies the first.
inline constexpr unsigned dot_packets_in_flight = 2;

// As dot_shuffle, but 16 bytes at a time and several loads at once, with a sum of its own for each
// place in a packet. a and b may have any alignment (chapter 01's aligned_packets).
template <class T, unsigned in_flight = dot_packets_in_flight>
__global__ void dot_sixteen_bytes(const T* a, const T* b, std::size_t n, T* partials) {
  static_assert(std::is_trivially_default_constructible_v<T>,
                "no thread runs constructors for shared memory");
  __shared__ T shared[largest_warp_count];
  const packet_range range = aligned_packets(n, a, b);
  const auto* const a_packets = reinterpret_cast<const packet<T>*>(a + range.head);
  const auto* const b_packets = reinterpret_cast<const packet<T>*>(b + range.head);

  struct packets {
    packet<T> a;
    packet<T> b;
  };
  packet<T> sums = {};
  for_each_in_flight<in_flight>(
      range.count, blockIdx.x, gridDim.x,
      [=](std::size_t i) {
        return packets{a_packets[i], b_packets[i]};
      },
      [&sums](const packets& of) {
#pragma unroll
        for (std::size_t j = 0; j < packet<T>::size; ++j)
          sums.element[j] += of.a.element[j] * of.b.element[j];
      });

  const std::size_t tail = range.head + range.count * packet<T>::size;
  T sum = thread_dot(a, b, range.head) + thread_dot(a + tail, b + tail, n - tail);
#pragma unroll
  for (std::size_t j = 0; j < packet<T>::size; ++j) sum += sums.element[j];

  sum = block_reduce_shuffle(sum, plus{}, shared);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

enum class dot_variant { static_tree, dynamic_tree, shuffle, sixteen_bytes };

// The kernel of a variant, and the dynamic shared memory that it needs for a block of `threads`.
template <class T>
struct dot_kernel {
  void (*function)(const T* a, const T* b, std::size_t n, T* partials);
  std::size_t shared_bytes;
};

template <class T>
dot_kernel<T> dot_kernel_of(dot_variant variant, unsigned threads) {
  switch (variant) {
    case dot_variant::static_tree:
      return {dot_static_tree<T>, 0};
    case dot_variant::dynamic_tree:
      return {dot_dynamic_tree<T>, threads * sizeof(T)};
    case dot_variant::shuffle:
      return {dot_shuffle<T>, 0};
    default:
      return {dot_sixteen_bytes<T>, 0};
  }
}

// A grid for the variant: as many blocks as the device runs at the same time, so that all work at
// once and finish together, and no more than there are elements for. 0 for n == 0.
template <class T>
unsigned dot_blocks(dot_variant variant, std::size_t n, unsigned threads) {
  const dot_kernel<T> kernel = dot_kernel_of<T>(variant, threads);
  const std::size_t resident = lab::resident_blocks(kernel.function, threads, kernel.shared_bytes);
  return static_cast<unsigned>(std::min(cuda::ceil_div(n, std::size_t{threads}), resident));
}

// Launches the variant on the default stream and does not wait. blocks is from 1 to 2^31 - 1,
// threads from 1 to 1024; partials has `blocks` elements. Errors: lab::cuda_error where it is
// refused.
template <class T>
void launch_dot(dot_variant variant, const T* a, const T* b, std::size_t n, T* partials,
                unsigned blocks, unsigned threads) {
  const dot_kernel<T> kernel = dot_kernel_of<T>(variant, threads);
  const auto function = kernel.function;
  function<<<blocks, threads, kernel.shared_bytes>>>(a, b, n, partials);
  CUDA_CHECK(cudaGetLastError());
}

// The dot product of a and b, arrays of n elements that the device can reach: launches the variant
// in a grid of partials.size() blocks, waits, and adds up the partial sums. Floats are added up in
// double, since the host has the time. Integers must not overflow T. With n == 0 nothing is
// launched. Errors: lab::cuda_error.
template <class T>
T dot_product(dot_variant variant, const T* a, const T* b, std::size_t n, unsigned threads,
              lab::device_buffer<T>& partials) {
  if (n == 0) return 0;
  launch_dot(variant, a, b, n, partials.data(), static_cast<unsigned>(partials.size()), threads);
  using accumulator = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  accumulator sum = 0;
  for (const T partial : partials.to_host()) sum += partial;  // to_host() waits for the kernel.
  return static_cast<T>(sum);
}

// No product passes through more rounded operations than this on its way into dot_product's result:
// the m of lab::sum_error_bound, for every variant and any alignment.
template <class T>
std::uint64_t dot_longest_chain(std::size_t n, std::uint64_t blocks, unsigned threads) {
  // A thread's share: the product counts as one operation, each addition to the sum as one. Only
  // the last round may be partly filled; a tile's round is dot_packets_in_flight packets.
  constexpr std::uint64_t round = dot_packets_in_flight * packet<T>::size;
  const std::uint64_t share = n / (blocks * threads) + round;
  // The head and the tail of misaligned vectors, fewer than a packet each, and the packet's sums.
  const std::uint64_t edges = 3 * packet<T>::size;
  const std::uint64_t steps_of_the_tree = std::bit_width(threads);
  // A sum of floats in double is rounded to float once; a sum of doubles at every addition.
  const std::uint64_t on_the_host = std::is_same_v<T, double> ? blocks : 1;
  return 1 + share + edges + steps_of_the_tree + on_the_host;
}

}  // namespace course
