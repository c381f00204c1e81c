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
// What load returns has a trivial default constructor. It may be called for an index more often
// than use is, and what it returned is then thrown away.
template <unsigned in_flight, class Load, class Use>
__device__ void for_each_in_flight(std::size_t count, std::size_t block, std::size_t blocks,
                                   Load load, Use use) {
  using value = std::invoke_result_t<Load, std::size_t>;
  const std::size_t tile = std::size_t{blockDim.x} * in_flight;
  for (std::size_t first = block * tile; first < count; first += blocks * tile) {
    const std::size_t mine = first + threadIdx.x;
    if (first + tile <= count) {
      value loaded[in_flight];
#pragma unroll
      for (unsigned k = 0; k < in_flight; ++k) loaded[k] = load(mine + k * blockDim.x);
#pragma unroll
      for (unsigned k = 0; k < in_flight; ++k) use(loaded[k]);
    } else {
      // The last tile: of a small array it is all there is, so its loads should be under way
      // together, too. Past the end the last one is loaded again, because a load behind a condition
      // may have to wait for the one before.
      value loaded[in_flight];
#pragma unroll
      for (unsigned k = 0; k < in_flight; ++k) {
        const std::size_t i = mine + k * blockDim.x;
        loaded[k] = load(i < count ? i : count - 1);
      }
#pragma unroll
      for (unsigned k = 0; k < in_flight; ++k) {
        if (mine + k * blockDim.x < count) use(loaded[k]);
      }
    }
  }
}

}  // namespace course
