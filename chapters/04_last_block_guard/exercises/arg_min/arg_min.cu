// SPDX-License-Identifier: MIT
#include <cstddef>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "04_last_block_guard/last_block.cuh"

// Where a ray meets a triangle. Nearer is less.
struct hit {
  float distance;
  int triangle;
  int surface;
};
__device__ bool operator<(const hit& a, const hit& b) { return a.distance < b.distance; }

// A value of the array, and where it is; without a value if the index is `none`.
template <class T>
struct candidate {
  T value;
  std::size_t index;
};
constexpr std::size_t none = ~std::size_t{0};

// The better one of two candidates.
template <class T>
struct smaller {
  __device__ candidate<T> operator()(const candidate<T>& a, const candidate<T>& b) const {
    if (a.index == none) return b;
    // BEGIN SOLUTION
    // STUB: // TODO: b can be none as well, and two values can be equal.
    // STUB: return b.value < a.value ? b : a;
    if (b.index == none || a.value < b.value) return a;
    if (b.value < a.value) return b;
    return a.index < b.index ? a : b;
    // END SOLUTION
  }
};

// *place becomes the index of the smallest value. of_blocks has an element for each block.
template <class T>
__global__ void find_smallest(const T* values, std::size_t count, candidate<T>* of_blocks,
                              unsigned* arrived, std::size_t* place) {
  // BEGIN SOLUTION
  // STUB: // TODO: leave each block's best candidate in of_blocks; the last block chooses.
  __shared__ candidate<T> shared[course::largest_block];
  candidate<T> best = {T{}, none};
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    best = smaller<T>{}(best, {values[i], i});
  }
  best = course::block_reduce(best, smaller<T>{}, shared);
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = best;
  if (course::last_block(arrived)) {
    best = {T{}, none};
    for (unsigned k = threadIdx.x; k < gridDim.x; k += blockDim.x) {
      best = smaller<T>{}(best, of_blocks[k]);
    }
    best = course::block_reduce(best, smaller<T>{}, shared);
    if (threadIdx.x == 0) *place = best.index;
  }
  // END SOLUTION
}

void arg_min_of_ints(const int* values, std::size_t count, candidate<int>* of_blocks,
                     unsigned* arrived, std::size_t* place, unsigned blocks, unsigned threads) {
  find_smallest<<<blocks, threads>>>(values, count, of_blocks, arrived, place);
}

void arg_min_of_doubles(const double* values, std::size_t count, candidate<double>* of_blocks,
                        unsigned* arrived, std::size_t* place, unsigned blocks, unsigned threads) {
  find_smallest<<<blocks, threads>>>(values, count, of_blocks, arrived, place);
}

void arg_min_of_hits(const hit* values, std::size_t count, candidate<hit>* of_blocks,
                     unsigned* arrived, std::size_t* place, unsigned blocks, unsigned threads) {
  find_smallest<<<blocks, threads>>>(values, count, of_blocks, arrived, place);
}
