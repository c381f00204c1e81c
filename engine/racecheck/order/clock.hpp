// SPDX-License-Identifier: MIT
// Vector clocks, compressed by block: "all threads of block 3 up to epoch 17, and thread 5 of block
// 3 up to 21".
//
// An epoch is a value of one counter that only grows, over all threads and launches of the process.
// A thread keeps its epoch until it publishes what it did (a fence, a release, a barrier), and then
// takes the counter's next value: so what it does later is not covered by what it published.
#pragma once

#include <cstddef>
#include <cstdint>

#include "racecheck/order/shared_tree.hpp"

namespace racecheck {

using epoch = std::uint64_t;
inline constexpr unsigned epoch_bits = 32;  // as many as cells have room for

inline constexpr unsigned most_threads_of_block = 1024;
inline constexpr unsigned rank_bits = 10;

// A thread of the current launch: the number of its block in the grid and its rank in the block.
struct thread_name {
  std::uint32_t block = 0;
  std::uint32_t rank = 0;

  bool operator==(const thread_name&) const = default;
  std::uint64_t key() const { return std::uint64_t{block} << rank_bits | rank; }
};

class clock {
 public:
  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }

  // Whether what `thread` did in epoch `at` is covered.
  bool covers(thread_name thread, epoch at) const {
    return blocks_.has(thread.block, thread.rank, at);
  }
  // The last epoch that is covered of all threads of the block; 0 for none. And of one thread, if
  // it is later than that.
  epoch of_block(std::uint32_t block) const { return blocks_.find(block); }
  epoch of_thread(thread_name thread) const { return blocks_.find_part(thread.block, thread.rank); }

  // What is said of a block makes what was said of its threads before superfluous, unless
  // `keeps_threads`: then of_thread() goes on to tell it.
  void add_block(std::uint32_t block, epoch until, bool keeps_threads = false) {
    blocks_.add(block, number_of(until), keeps_threads);
  }
  void add_thread(thread_name thread, epoch until, bool keeps_threads = false) {
    blocks_.add_part(thread.block, thread.rank, number_of(until), keeps_threads);
  }
  // Whether they are equal.
  bool is(const clock& other) const { return blocks_.is(other.blocks_); }
  // Whether joining `other` would change nothing.
  bool contains(const clock& other) const { return blocks_.contains(other.blocks_); }
  void join(const clock& other) { blocks_.join(other.blocks_); }

 private:
  static shared_tree::number number_of(epoch of) {
    static_assert(epoch_bits <= 32);
    return static_cast<shared_tree::number>(of);
  }

  shared_tree blocks_;  // and their threads
};

}  // namespace racecheck
