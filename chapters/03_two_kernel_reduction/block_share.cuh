// SPDX-License-Identifier: MIT
// One block's share of a reduction. Chapter 03 calls this in two kernels, chapter 04 twice in one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "02_shared_memory_dot_product/loads_in_flight.cuh"
#include "03_two_kernel_reduction/terms.cuh"

namespace course {

// Combines the calling thread's share of the first n terms, where the calling block is number
// `block` of `blocks`. A thread without a share gets Operation's identity. No communication.
template <class Terms, class Operation>
__device__ auto thread_share(Terms terms, std::size_t n, std::size_t block, std::size_t blocks,
                             Operation operation) {
  using T = typename Terms::value_type;
  constexpr unsigned in_flight = Terms::loads_in_flight;
  T share = Operation::template identity<T>();
  // The terms that are loaded in packets, as far as there are any, and how many those are.
  packet_range range = {.head = 0, .count = 0};
  std::size_t packed = 0;
  if constexpr (Terms::in_packets) {
    range = terms.packets(n);
    packed = range.count * packet<T>::size;
    // A share for each place in a packet: four short chains of additions, not one long one.
    packet<T> places;
    for (T& each : places.element) each = share;
    for_each_in_flight<in_flight>(
        range.count, block, blocks, [=](std::size_t i) { return terms.load_packet(range.head, i); },
        [&](const packet<T>& term) {
#pragma unroll
          for (std::size_t j = 0; j < packet<T>::size; ++j)
            places.element[j] = operation(places.element[j], term.element[j]);
        });
#pragma unroll
    for (const T& each : places.element) share = operation(share, each);
  }
  // Those before the packets and those behind them, one by one.
  for_each_in_flight<in_flight>(
      n - packed, block, blocks,
      [=](std::size_t i) { return terms[i < range.head ? i : i + packed]; },
      [&](const T& term) { share = operation(share, term); });
  return share;
}

// Combines the block's share of the first n terms. Thread 0 gets the result; what the other threads
// get is not specified. Which terms meet, and in which order, depends on n, `blocks`, blockDim.x
// and the alignment of the arrays, and on nothing else: the result is the same to the last bit in
// every run.
// - Every thread of a one-dimensional block calls it, with the same arguments; block < blocks.
// - `shared` is shared memory for largest_warp_count elements, and may be used again at once.
// - The terms are of a trivially copyable type, and Operation has an identity for it.
template <class Terms, class Operation>
__device__ auto block_share(Terms terms, std::size_t n, std::size_t block, std::size_t blocks,
                            Operation operation, typename Terms::value_type* shared) {
  return block_reduce_shuffle(thread_share(terms, n, block, blocks, operation), operation, shared);
}

// No term passes through more operations than this on its way into a block_share.
template <class Terms>
constexpr std::uint64_t longest_chain_of_share(std::uint64_t n, std::uint64_t blocks,
                                               unsigned threads) {
  // Rounds through the array, of which only the last may be partly filled; then the places of a
  // packet, and the single terms before and behind the packets.
  const std::uint64_t share = n / (blocks * threads) + Terms::loads_in_flight;
  const std::uint64_t edges =
      3 * (16 / std::min<std::size_t>(sizeof(typename Terms::value_type), 16));
  const std::uint64_t steps_of_the_block = std::bit_width(threads);
  return share + edges + steps_of_the_block;
}

}  // namespace course
