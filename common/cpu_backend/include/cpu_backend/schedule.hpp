// SPDX-License-Identifier: MIT
// The schedule of the observed form: which block runs, which of its threads, and where they stop,
// all of it by a generator that starts from one seed (the environment variable LAB_RACECHECK_SEED,
// 0 by default), so that the same seed gives the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu_backend {

class schedule {
 public:
  // The seed; a bad LAB_RACECHECK_SEED ends the program with one sentence and status 2.
  static std::uint64_t seed();
  static schedule& current();

  // Settles how the blocks of the next launch are ordered and how often they are interrupted.
  void begin_launch(std::uint64_t blocks);

  // The block that starts as the `position`-th.
  std::uint64_t block_at(std::uint64_t position) const;
  // The order in which the threads of a block start.
  void order_threads(std::vector<std::uint16_t>& ranks);
  // Which of `blocks`, numbers of resident blocks, runs next: an index.
  std::size_t next(const std::vector<std::uint64_t>& blocks);
  // Any index below `count`.
  std::size_t any(std::size_t count) { return below(count); }
  template <class T>
  void shuffle(std::vector<T>& of) {
    for (std::size_t i = of.size(); i > 1; --i) std::swap(of[i - 1], of[below(i)]);
  }

  bool interrupts_thread() { return often_ && below(often_) == 0; }
  bool interrupts_block() { return often_ && below(often_) == 0; }
  bool prefers_new_thread() { return below(2) == 0; }

 private:
  enum class block_order { ascending, descending, shuffled };

  std::uint64_t below(std::uint64_t bound);
  void shuffle_by_warps(std::vector<std::uint16_t>& ranks);

  std::uint64_t state_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t last_block_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t offset_ = 0;
  block_order order_ = block_order::ascending;
  unsigned often_ = 0;  // one switch point in this many interrupts; 0: none
};

}  // namespace cpu_backend
