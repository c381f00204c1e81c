// SPDX-License-Identifier: MIT
// A block's share of an array, with several loads of each thread under way at once: it is the loads
// in flight, and not the arithmetic, that decide how fast a GPU reduces.
#pragma once

#include <cstddef>
#include <type_traits>

namespace course {

// Calls use(load(i)) for the calling thread's share of the indices i < count, in ascending order:
// `in_flight` loads first, then as many uses. `blocks` blocks, of which the calling one is number
// `block`, take each index once: tile t of blockDim.x * in_flight neighbours goes to block
// t % blocks. For any thread of a one-dimensional block; no communication.
// What load returns has a trivial default constructor.
template <unsigned in_flight, class Load, class Use>
__device__ void for_each_in_flight(std::size_t count, std::size_t block, std::size_t blocks,
                                   Load load, Use use) {
  using value = std::invoke_result_t<Load, std::size_t>;
  const unsigned tile = blockDim.x * in_flight;
  for (std::size_t first = block * tile; first < count; first += blocks * tile) {
    // The last tile may be smaller. The condition becomes a predicate of the load and no branch, so
    // that even a small array, which is all last tile, has its loads under way together.
    const unsigned here = count - first < tile ? static_cast<unsigned>(count - first) : tile;
    value loaded[in_flight] = {};  // g++ does not see that only what is loaded is used
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) {
      const unsigned i = threadIdx.x + k * blockDim.x;
      if (i < here) loaded[k] = load(first + i);
    }
#pragma unroll
    for (unsigned k = 0; k < in_flight; ++k) {
      if (threadIdx.x + k * blockDim.x < here) use(loaded[k]);
    }
  }
}

}  // namespace course
