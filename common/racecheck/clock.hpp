// SPDX-License-Identifier: MIT
// Vector clocks, compressed by block: "all threads of block 3 up to epoch 17, and thread 5 of block
// 3 up to 21".
//
// An epoch is a value of one counter that only grows, over all threads and launches of the process.
// A thread keeps its epoch until it publishes what it did (a fence, a release, a barrier), and then
// takes the counter's next value: so what it does later is not covered by what it published.
#pragma once

#include <cstdint>
#include <vector>

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
  bool empty() const { return blocks_.empty() && threads_.empty(); }
  std::size_t size() const { return blocks_.size() + threads_.size(); }

  // Whether what `thread` did in epoch `at` is covered.
  bool covers(thread_name thread, epoch at) const {
    return at <= until(blocks_, thread.block) || at <= until(threads_, thread.key());
  }
  // The last epoch that is covered of all threads of the block; 0 for none. And of one thread.
  epoch of_block(std::uint32_t block) const { return until(blocks_, block); }
  epoch of_thread(thread_name thread) const { return until(threads_, thread.key()); }

  void add_block(std::uint32_t block, epoch until) { add(blocks_, block, until); }
  void add_thread(thread_name thread, epoch until) { add(threads_, thread.key(), until); }
  // Whether joining `other` would change nothing.
  bool contains(const clock& other) const {
    return contains(blocks_, other.blocks_) && contains(threads_, other.threads_);
  }
  void join(const clock& other);
  // The same for many at once, which costs less than one by one.
  void join(const std::vector<const clock*>& others);

 private:
  struct entry {
    std::uint64_t who;
    epoch until;
  };
  using entries = std::vector<entry>;  // sorted by `who`

  static epoch until(const entries& of, std::uint64_t who);
  static void add(entries& to, std::uint64_t who, epoch until);
  static void join(entries& into, const entries& other);
  static bool contains(const entries& all, const entries& some);

  entries blocks_;
  entries threads_;
};

}  // namespace racecheck
