// SPDX-License-Identifier: MIT
// Chapter 01's faster vector adds: a grid of any size, and sixteen bytes at a time.
#pragma once

#include <cuda_runtime.h>
#include <cuda/cmath>

#include <algorithm>
#include <cstddef>

#include "01_vector_add/packet.cuh"
#include "01_vector_add/vector_add.cuh"
#include "lab/check.cuh"

namespace course {

// Each thread adds an element, then steps over the whole grid to its next one. For any
// one-dimensional grid: its size decides how fast it is, never whether it is right.
template <class T>
__global__ void add_grid_stride(const T* a, const T* b, T* c, std::size_t n) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    c[i] = a[i] + b[i];
  }
}

// By value: the copy of a whole packet is the 16-byte load. Through a reference the compiler may
// load element by element.
template <class T>
__device__ packet<T> operator+(packet<T> x, packet<T> y) {
  packet<T> sum;
#pragma unroll
  for (std::size_t j = 0; j < packet<T>::size; ++j) sum.element[j] = x.element[j] + y.element[j];
  return sum;
}

// What add_sixteen_bytes does, called by all threads of its grid.
template <class T>
__device__ void add_packets(const T* a, const T* b, T* c, std::size_t n) {
  const packet_range range = aligned_packets(n, a, b, c);
  const auto* const a_packets = reinterpret_cast<const packet<T>*>(a + range.head);
  const auto* const b_packets = reinterpret_cast<const packet<T>*>(b + range.head);
  auto* const c_packets = reinterpret_cast<packet<T>*>(c + range.head);

  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = thread; i < range.count; i += threads) {
    c_packets[i] = a_packets[i] + b_packets[i];
  }

  for (std::size_t i = thread; i < range.head; i += threads) c[i] = a[i] + b[i];
  const std::size_t tail = range.head + range.count * packet<T>::size;
  for (std::size_t i = tail + thread; i < n; i += threads) c[i] = a[i] + b[i];
}

// As add_grid_stride, but 16 bytes at a time. For any one-dimensional grid, any n, and pointers of
// any alignment: what does not fill an aligned packet goes one by one.
template <class T>
__global__ void add_sixteen_bytes(const T* a, const T* b, T* c, std::size_t n) {
  add_packets(a, b, c, n);
}

// A grid for add_grid_stride on a device with so many SMs: enough blocks to keep each SM busy while
// some of its blocks wait for memory, and no more than there are elements for.
inline unsigned grid_stride_blocks(std::size_t n, unsigned threads, unsigned multiprocessors) {
  const std::size_t useful = cuda::ceil_div(n, std::size_t{threads});
  return static_cast<unsigned>(std::min(useful, std::size_t{multiprocessors} * 32));
}

// A grid for add_sixteen_bytes in which each thread has one packet, as far as grids go: the
// hardware's scheduler then keeps every SM busy to the end, better than a loop does.
template <class T>
unsigned sixteen_bytes_blocks(std::size_t n, unsigned threads) {
  const std::size_t per_block = std::size_t{threads} * packet<T>::size;
  return static_cast<unsigned>(std::min(cuda::ceil_div(n, per_block), largest_grid));
}

// The two below launch on the default stream and do not wait. a, b and c are arrays of n elements
// that the device can reach; c may be a or b, and overlaps them in no other way. threads is from 1
// to 1024, blocks from 1 to 2^31 - 1. For n == 0 there is nothing to launch (a grid of no blocks
// would be an error). Errors: lab::cuda_error if the launch is refused.

template <class T>
void launch_grid_stride(const T* a, const T* b, T* c, std::size_t n, unsigned blocks,
                        unsigned threads) {
  if (n == 0) return;
  add_grid_stride<<<blocks, threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

template <class T>
void launch_sixteen_bytes(const T* a, const T* b, T* c, std::size_t n, unsigned blocks,
                          unsigned threads) {
  if (n == 0) return;
  add_sixteen_bytes<T><<<blocks, threads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
