// SPDX-License-Identifier: MIT
// The clocks of the running launch: those of the program as it stands at once, those under an
// assumption only where a race has to be diagnosed. Until then what happened is noted, and then it
// happens again under all assumptions, from the launch's begin or from the race before.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "racecheck/order/device_works.hpp"
#include "racecheck/order/synchronization.hpp"

namespace racecheck {

class launch_clocks {
 public:
  // Returns whether epochs start over again, so that those of earlier launches must be forgotten.
  bool begin_launch();
  // See synchronization.
  void order_sc_fences(bool exactly = false) { actual_.order_sc_fences(exactly); }
  // From here on strong reads may be of earlier writes. Which ones is asked of has_seen().
  void keep_earlier_messages();
  // In this launch from here on: an atomic has read from a write that is not the last one.
  void stop_noting() { has_too_many_ = true; }
  // From here on nothing is noted, and no assumption is known.
  void stop_diagnosing() { diagnoses_ = false; }
  epoch launch_start() const { return actual_.launch_start(); }

  // ---- Works that run beside each other.
  const device_works& works() const { return works_; }
  // A work begins, and the clocks with it, if `begins_group`.
  void note_work(noted_work begun, bool begins_group);
  // From here on it is what this work does that is asked about.
  const noted_work& kernel_goes_on(const cpu_backend::work& given) {
    work_goes_on(given);
    return works_.of_kernel(given);
  }
  void work_goes_on(const cpu_backend::work& given) {
    known_start_ = works_.first_unordered(given, launch_start());
  }
  // That launch waits for other work.
  void note_waiting(const cpu_backend::work& given) { works_.of_kernel(given).has_waited = true; }
  void all_work_is_done() { works_.clear(); }
  // All that is older is before what goes on now.
  epoch known_start() const { return known_start_; }
  // For an epoch from known_start() on, and before launch_start().
  bool earlier_work_is_before(const block_state& block, epoch at) const;
  // nullptr: of one that was done before all of these began.
  const noted_work* work_of(epoch at) const {
    return at < launch_start() ? works_.of_epoch(at) : works_.of_block(block_of(at));
  }
  // The works of two accesses: of `by`, and an earlier one. The same, or nullptr, if it is one of
  // which no others run beside it.
  struct two_works {
    const noted_work* earlier = nullptr;
    const noted_work* later = nullptr;
  };
  two_works works_of(const thread_state& by, epoch earlier) const;
  // Of this launch, or of another one of its group; `no_block` if it was earlier.
  static constexpr std::uint32_t no_block = ~0u;
  std::uint32_t block_of(epoch at) const {
    return at < launch_start() ? no_block : actual_.block_of(at);
  }
  void begin_block(block_state& block, std::uint32_t number, unsigned threads,
                   bool goes_on = false);
  void end_block(const block_state& block);

  // As those of synchronization.
  void fence(block_state& block, thread_state& by, scope within, fence_kind kind);
  void strong_read(block_state& block, thread_state& by, const message& at, scope within,
                   bool acquires, bool updates, unsigned older = 0);
  void strong_write(block_state& block, thread_state& by, message& at, scope within, bool releases,
                    bool updates);
  void weak_write(const block_state& block, const thread_state& by, message& at);
  void barrier(block_state& block);
  void warp_barrier(block_state& block, unsigned first_rank, unsigned lanes);
  void grid_barrier_arrives(block_state& block, thread_state& by);
  void grid_barrier_passes(block_state& block, thread_state& by);

  bool before(const block_state& block, const thread_state& by, thread_name thread,
              epoch at) const {
    return actual_.before(block, by, thread, at) ||
           (works_.has_several() && is_of_work_before(block, by, thread));
  }
  // Whether `by` can get nothing older than this write, which `thread` made in epoch `at`: what it
  // does now is after the write, or after a strong read of it. Here the fences have the order in
  // which they are executed, whatever before() takes for known: what is read must be possible in
  // some order of them, and this is the one that is known.
  bool has_seen(const block_state& block, const thread_state& by, thread_name thread, epoch at,
                const observation& write) const {
    const unsigned ordered = orders_of_fences_ - 1;
    return actual_.before(block, by, thread, at, ordered) ||
           (works_.has_several() && is_of_work_before(block, by, thread)) ||
           actual_.current(block, by, ordered).happened_before.observed.get().has_observed(write);
  }
  const knowledge& actual_knowledge(const block_state& block, const thread_state& by) const {
    return actual_.current(block, by, 0);
  }

  // For the diagnosis; `assumption` is an index of `assumed_repairs`.
  bool before_under(unsigned assumption, const block_state& block, const thread_state& by,
                    thread_name thread, epoch at);
  // The same for any thread of the block.
  bool before_any_under(unsigned assumption, const block_state& block, thread_name thread,
                        epoch at);
  // How many operations there were: what before_under() says changes only when this does.
  std::uint64_t operations() const { return operations_; }
  // Whether it is known what is ordered under that assumption.
  bool knows_assumption(unsigned assumption) const {
    return assumption == 0 || (!has_too_many_ && assumed_.knows_assumption(assumption - 1));
  }
  // Whether all of that is known: there were not too many operations, and under no assumption
  // did the clocks grow too large.
  bool knows_all_assumptions() const { return !has_too_many_ && assumed_.knows_all_assumptions(); }

 private:
  enum class kind : std::uint8_t {
    block_runs,
    begin_block,
    end_block,
    fence,
    strong_read,
    strong_write,
    strong_update,  // both, in this order
    weak_write,
    barrier,
    warp_barrier,
    grid_barrier_arrives,
    grid_barrier_passes
  };
  struct noted {  // of the block that `block_runs` named last
    kind what : 8 = kind::block_runs;
    bool at_block_scope : 1 = false;
    bool acquires : 1 = false;
    bool releases : 1 = false;
    bool updates : 1 = false;
    std::uint32_t fence : 2 = 0;  // a fence_kind
    std::uint32_t older : 4 = 0;
    std::uint32_t rank : rank_bits + 1 =
        0;  // of a warp the first one's; of a block all its threads
    // A block's number, or of the one that goes on as the one that begins; where an atomic was; a
    // warp's lanes; of a barrier the number of `arrived_`, or all threads.
    std::uint32_t with = 0;
  };
  static_assert(sizeof(noted) == 8);
  static_assert(synchronization::most_earlier < 1u << 4);
  static constexpr std::uint32_t all_threads = ~0u;
  // Threads that contend for a lock try again and again; to do all of that under all
  // assumptions would take minutes. Barriers of the block cost next to nothing but room.
  static constexpr std::size_t most_noted = std::size_t{1} << 22;
  static constexpr std::size_t most_costly = 250'000;

  bool is_of_work_before(const block_state& block, const thread_state& by,
                         thread_name thread) const;
  void note(const block_state& block, const noted& what);
  noted* begun_update();
  void catch_up();
  void happen(const noted& what);

  // As the program stands: once, or once more with the fences in the order of their execution.
  static constexpr std::array<assumptions, 2> without_repairs_{};
  unsigned orders_of_fences_ = 1;
  synchronization actual_{std::span(without_repairs_).first(1)};
  synchronization assumed_{std::span(assumed_repairs).subspan(1)};
  device_works works_;
  epoch known_start_ = 0;
  std::deque<noted> noted_;
  std::uint32_t noted_block_ = 0;
  std::vector<std::vector<unsigned>> arrived_;  // at those barriers to which not all came
  std::size_t costly_ = 0;                      // of `noted_`
  bool has_too_many_ = false;
  bool diagnoses_ = true;
  std::uint64_t operations_ = 0;
  // As far as `others_` has come: noted_[0, done_), and the blocks and places of memory there.
  std::size_t done_ = 0;
  std::uint32_t done_block_ = 0;
  std::unordered_map<std::uint32_t, block_state> blocks_;
  std::unordered_map<std::uint32_t, message> messages_;
};

}  // namespace racecheck
