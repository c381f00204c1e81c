// SPDX-License-Identifier: MIT
// Which block runs, which of its threads, and where they stop, all of it by a generator that starts
// from one seed, so that the same seed gives the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cpu_backend {

class scheduler {
 public:
  static scheduler& current();

  // For all later launches. 0 by default.
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  // See cpu_backend/scheduled.hpp.
  void hold_back_after_fences() { holds_back_after_fences_ = true; }
  // A block mostly comes from one fence to the next without an interruption, and a warp from one
  // barrier to the next.
  void run_ahead() { runs_ahead_ = true; }
  bool holds_back_after_fences() const { return holds_back_after_fences_; }
  // See cpu_backend/scheduled.hpp.
  void delay_last_block(const unsigned* until, unsigned at_most) { next_delay_ = {until, at_most}; }
  // Whether this block, which has not begun, may not begin yet.
  bool is_late(std::uint64_t block) const;

  // Settles how the blocks of the next launch are ordered and how often they are interrupted.
  void begin_launch(std::uint64_t blocks);

  // The block that starts as the `position`-th.
  std::uint64_t block_at(std::uint64_t position) const;
  // The order in which the threads of a block start.
  void order_threads(std::vector<std::uint16_t>& ranks);
  // Which of `blocks`, numbers of resident blocks, runs next: an index. `held_back`: since when
  // they are, on a clock that only grows; 0: not.
  std::size_t next(const std::vector<std::uint64_t>& blocks,
                   const std::vector<std::uint64_t>& held_back);
  // Any index below `count`.
  std::size_t any(std::size_t count) { return below(count); }
  template <class T>
  void shuffle(std::vector<T>& of) {
    for (std::size_t i = of.size(); i > 1; --i) std::swap(of[i - 1], of[below(i)]);
  }

  bool interrupts_thread() { return often_ && below(often_) == 0; }
  bool interrupts_block() { return often_ && below(often_) == 0; }
  // Mostly, in that case: else a warp that waits for another one would be alone for ever.
  bool lets_warp_run_ahead() { return runs_ahead() && below(8) != 0; }
  bool runs_ahead() const { return runs_ahead_; }
  bool prefers_new_thread() { return below(2) == 0; }

 private:
  enum class block_order { ascending, descending, shuffled };
  // Until the word is as large as the number of the last block, or as `at_most`.
  struct delay {
    const unsigned* until = nullptr;  // nullptr: none
    unsigned at_most = 0;
  };

  std::uint64_t below(std::uint64_t bound);
  void shuffle_by_warps(std::vector<std::uint16_t>& ranks);

  std::uint64_t seed_ = 0;
  std::uint64_t state_ = 0;
  std::uint64_t launches_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t last_block_ = 0;
  std::uint64_t stride_ = 1;
  block_order order_ = block_order::ascending;
  bool holds_back_after_fences_ = false;
  bool runs_ahead_ = false;
  delay delay_, next_delay_;  // of this launch, and of the next one
  unsigned often_ = 0;        // one switch point in this many interrupts; 0: none
};

}  // namespace cpu_backend
