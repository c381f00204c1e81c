// SPDX-License-Identifier: MIT
// Chapter 06, made fast: chapter 01's vector adds, with blocks that take over blocks that have not
// started.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <cmath>
#include <cstddef>

#include "01_vector_add/fast_vector_add.cuh"
#include "01_vector_add/packet.cuh"
#include "06_work_stealing/canceled_blocks.cuh"
#include "lab/check.cuh"

namespace course {

// Chapter 01's c[i] = a[i] + b[i], one element a thread, to be compared with it.
template <int rank, class T>
__global__ void add_canceling(const T* a, const T* b, T* c, std::size_t n) {
  for_each_canceled_block<rank>([=](dim3 index) {
    const std::size_t i = number_of<rank>(index) * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
  });
}

// As chapter 01's add_sixteen_bytes, one packet a thread. For a one-dimensional grid of at least
// n / packet<T>::size threads. What lies before and behind the packets, or all where the arrays are
// misaligned by different amounts, the tiles' threads share in steps of the whole grid.
template <class T>
__global__ void add_canceling_sixteen_bytes(const T* a, const T* b, T* c, std::size_t n) {
  const packet_range range = aligned_packets(n, a, b, c);
  const std::size_t tail = range.head + range.count * packet<T>::size;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for_each_canceled_block<1>([=](dim3 index) {
    const std::size_t i = std::size_t{index.x} * blockDim.x + threadIdx.x;
    const auto* const a_packets = reinterpret_cast<const packet<T>*>(a + range.head);
    const auto* const b_packets = reinterpret_cast<const packet<T>*>(b + range.head);
    auto* const c_packets = reinterpret_cast<packet<T>*>(c + range.head);
    if (i < range.count) c_packets[i] = a_packets[i] + b_packets[i];
    for (std::size_t j = i; j < range.head; j += threads) c[j] = a[j] + b[j];
    for (std::size_t j = tail + i; j < n; j += threads) c[j] = a[j] + b[j];
  });
}

// A grid of `rank` dimensions, about equally long, with at least `blocks` (>= 1) blocks.
inline dim3 grid_of_rank(int rank, unsigned blocks) {
  const auto root = [](double value, double degree) {
    return static_cast<unsigned>(std::ceil(std::pow(value, 1 / degree)));
  };
  if (rank == 1) return dim3(blocks);
  const unsigned z = rank == 3 ? root(blocks, 3) : 1;
  const unsigned layer = cuda::ceil_div(blocks, z);
  const unsigned y = root(layer, 2);
  return dim3(cuda::ceil_div(layer, y), y, z);
}

// The two below launch in the default stream and do not wait. Arrays of n elements that the
// device can reach; threads from 1 to 1024. With n == 0 nothing is launched. Errors:
// std::invalid_argument where no grid is large enough, lab::cuda_error where the launch is refused.

template <int rank, class T>
void launch_add_canceling(const T* a, const T* b, T* c, std::size_t n, unsigned threads) {
  if (n == 0) return;
  add_canceling<rank><<<grid_of_rank(rank, covering_blocks(n, threads)), threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

template <class T>
void launch_add_canceling_sixteen_bytes(const T* a, const T* b, T* c, std::size_t n,
                                        unsigned threads) {
  if (n == 0) return;
  const unsigned blocks = covering_blocks(n, std::size_t{threads} * packet<T>::size);
  add_canceling_sixteen_bytes<T><<<blocks, threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
