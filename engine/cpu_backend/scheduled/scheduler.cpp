// SPDX-License-Identifier: MIT
#include "cpu_backend/scheduled/scheduler.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cpu_backend/execution/resident_threads.hpp"
#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/work_order.hpp"
#include "cpu_backend/scheduled.hpp"
#include "cpu_backend/scheduled/decisions.hpp"
#include "cpu_backend/scheduled/forked_runs.hpp"

namespace cpu_backend {
namespace {

__extension__ using wide = unsigned __int128;  // for products of two 64-bit numbers

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace

scheduler& scheduler::current() {
  static scheduler the_scheduler;
  return the_scheduler;
}

// Multiplies instead of dividing: the bias is below 2^-32 for any bound that occurs.
std::uint64_t scheduler::below(std::uint64_t bound) {
  return static_cast<std::uint64_t>((static_cast<wide>(split_mix(state_)) * bound) >> 64);
}

// Seeds 0 and 1 run the blocks in order and in reverse, without interruptions. All later ones
// shuffle them, interrupt rarely or often in turn, and keep one block back, a different one from
// seed to seed: with as many seeds as blocks, each block has been the last.
void scheduler::begin_launch(std::uint64_t blocks) {
  state_ = seed_ * 0x100000001b3u + ++launches_;
  (void)split_mix(state_);
  blocks_ = blocks;
  delay_ = std::exchange(next_delay_, {});
  last_block_ = blocks == 0 ? 0 : seed_ % blocks;
  order_ = holds_back_after_fences_ ? block_order::shuffled
           : seed_ == 0             ? block_order::ascending
           : seed_ == 1             ? block_order::descending
                                    : block_order::shuffled;
  constexpr unsigned how_often[] = {2, 8, 32};
  const unsigned rarely = runs_ahead_ ? 16 : 1;
  often_ = order_ == block_order::shuffled ? how_often[seed_ % 3] * rarely : 0;
  stride_ = 1;
  if (order_ == block_order::shuffled && blocks > 2) {
    do {
      stride_ = 1 + below(blocks - 1);
    } while (std::gcd(stride_, blocks) != 1);
  }
}

// A permutation whose last place is last_block_'s: steps of a stride that has no divisor in common
// with the number of blocks.
std::uint64_t scheduler::block_at(std::uint64_t position) const {
  if (order_ == block_order::ascending) return position;
  if (order_ == block_order::descending) return blocks_ - 1 - position;
  const auto steps = static_cast<wide>(blocks_ - 1 - position) * stride_;
  return static_cast<std::uint64_t>((steps + last_block_) % blocks_);
}

bool scheduler::is_late(std::uint64_t block) const {
  if (delay_.until == nullptr || block + 1 != blocks_) return false;
  return __atomic_load_n(delay_.until, __ATOMIC_SEQ_CST) <
         std::min<std::uint64_t>(delay_.at_most, block);
}

void scheduler::order_threads(std::vector<std::uint16_t>& ranks) {
  std::iota(ranks.begin(), ranks.end(), std::uint16_t{0});
  if (order_ == block_order::descending) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      ranks[i] = static_cast<std::uint16_t>(ranks.size() - 1 - i);
    }
  } else if (order_ == block_order::shuffled && seed_ % 4 == 0) {
    shuffle(ranks);
  } else if (order_ == block_order::shuffled) {
    shuffle_by_warps(ranks);
  }
}

// The warps in any order, and the lanes within each. Neighbouring threads mostly work on
// neighbouring memory, and an observer that finds it in the cache is twice as fast.
void scheduler::shuffle_by_warps(std::vector<std::uint16_t>& ranks) {
  constexpr std::size_t warp_size = 32;
  std::vector<std::uint16_t> warps((ranks.size() + warp_size - 1) / warp_size);
  std::iota(warps.begin(), warps.end(), std::uint16_t{0});
  shuffle(warps);
  std::size_t next = 0;
  for (const std::uint16_t warp : warps) {
    const std::size_t first = next;
    for (std::size_t rank = warp * warp_size; rank < ranks.size() && rank < (warp + 1) * warp_size;
         ++rank) {
      ranks[next++] = static_cast<std::uint16_t>(rank);
    }
    for (std::size_t lanes = next - first; lanes > 1; --lanes) {
      std::swap(ranks[first + lanes - 1], ranks[first + below(lanes)]);
    }
  }
}

std::size_t scheduler::next(const std::vector<std::uint64_t>& blocks,
                            const std::vector<std::uint64_t>& held_back) {
  if (blocks.size() == 1) return 0;
  if (holds_back_after_fences_ && below(16) != 0) {
    const auto last = std::max_element(held_back.begin(), held_back.end());
    const auto free = std::count(held_back.begin(), held_back.end(), 0u);
    if (free == 0) return static_cast<std::size_t>(last - held_back.begin());
    auto chosen = static_cast<std::ptrdiff_t>(below(static_cast<std::uint64_t>(free)));
    for (std::size_t i = 0;; ++i) {
      if (held_back[i] == 0 && chosen-- == 0) return i;
    }
  }
  if (order_ != block_order::shuffled) return below(64) == 0 ? below(blocks.size()) : 0;
  const std::size_t chosen = below(blocks.size());
  const bool keeps_back = blocks[chosen] == last_block_ && below(16) != 0;
  return keeps_back ? (chosen + 1) % blocks.size() : chosen;
}

}  // namespace cpu_backend

namespace cpu_backend::form {

std::uint64_t block_at(std::uint64_t position) { return scheduler::current().block_at(position); }

bool prefers_new_thread() { return scheduler::current().prefers_new_thread(); }

bool lets_warp_run_ahead() { return scheduler::current().lets_warp_run_ahead(); }

void reorder(thread_queue& released) {
  std::vector<resident_thread*> threads;
  while (!released.empty()) threads.push_back(released.pop());
  scheduler& order = scheduler::current();
  order.shuffle(threads);
  if (order.runs_ahead()) {
    // Warps in the order of their first threads.
    std::unordered_map<unsigned, std::size_t> place;
    const auto warp_of = [](const resident_thread* of) {
      return ((of->index.z * blockDim.y + of->index.y) * blockDim.x + of->index.x) / warp_size;
    };
    for (const resident_thread* each : threads) place.emplace(warp_of(each), place.size());
    std::stable_sort(threads.begin(), threads.end(), [&](const auto* left, const auto* right) {
      return place[warp_of(left)] < place[warp_of(right)];
    });
  }
  for (resident_thread* thread : threads) released.push(thread);
}

namespace {
// Which calls fail, as FAILURES in engine/prove/decided_runs.py has it; 0: none.
unsigned failures_by_chance() {
  static const char* const asked = setting("LAB_PROVE_FAILS_BY_CHANCE");
  static const auto threads = asked ? static_cast<unsigned>(std::atoi(asked)) : 0;
  return threads;
}
}  // namespace

bool hides_times() { return decisions::active() || failures_by_chance() != 0; }

std::uint64_t undefined_value(const char* function, const place& at, std::uint64_t value) {
  used("undefined", function, &at);
  const unsigned failures = failures_by_chance();
  if (failures == 0) return value;
  // The largest and the least, signed or not, of 4 bytes or of 8.
  constexpr std::uint64_t extreme[] = {0, 0, 0x7fff'ffff'7fff'ffff, 0x8000'0000'8000'0000};
  return failures % 4 == 1 ? ~value : extreme[failures % 4];
}

bool fails_by_chance(const char* function, const place& at) {
  const multiprocessor* const on = this_multiprocessor;
  if (!on) return false;
  used("chance", function, &at);
  const unsigned failures = failures_by_chance();
  if (failures == 0) return false;
  const std::uint64_t thread = on->block() * blockDim.x + on->thread_rank();
  const observer::runtime_access now;
  using call = std::tuple<std::uint64_t, unsigned, unsigned, unsigned>;
  static auto& calls = *new std::map<call, unsigned>;
  const unsigned before = calls[{on->block(), on->thread_rank(), at.line(), at.column()}]++;
  constexpr unsigned bits = 4, first_random = 1 << bits, first_single = 2 * first_random;
  if (failures < first_random) return before == 0 && (failures >> thread % bits & 1) != 0;
  if (failures >= first_single) return before == 0 && thread == failures - first_single;
  // Half of the calls, or most of them; in the end none, so a loop ends.
  constexpr unsigned most = 64, of = 8;
  static std::uint64_t state = failures;
  return before < most && split_mix(state) % of < (failures % 2 == 0 ? of / 2 : of - 1);
}

void used(const char* kind, const char* name, const place* at) {
  if (decisions* list = decisions::active()) list->used(kind, name, at, nullptr);
}

void has_waited(const void* word, const void* old, std::size_t bytes, const place& at) {
  decisions* const list = decisions::active();
  const multiprocessor* const on = this_multiprocessor;
  if (list && on) list->has_waited({on->block(), on->thread_rank()}, word, old, bytes, at);
}

void notifies(const void* word, bool all) {
  decisions* const list = decisions::active();
  const multiprocessor* const on = this_multiprocessor;
  if (list && on) list->notifies({on->block(), on->thread_rank()}, word, all);
}

void called(const char* function) {
  if (!decisions::active()) return;
  used("call", function);
  static const pthread_t first = pthread_self();
  if (!pthread_equal(first, pthread_self())) used("host", "second_thread");
  if (work_order::is_in_callback()) used("host", "call_in_function");
}

void launch_comes() {
  static const bool once = (fork_runs_at_launch(), true);
  (void)once;
}

}  // namespace cpu_backend::form
