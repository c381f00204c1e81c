// SPDX-License-Identifier: MIT
#include "cpu_backend/player.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cpu_backend/execution/diagnostic.hpp"
#include "cpu_backend/execution/grid.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/scheduled/decisions.hpp"
#include "cpu_backend/scheduled/scheduler.hpp"

namespace cpu_backend {

void player::run(grid& of) {
  scheduler& order = scheduler::current();
  order.begin_launch(of.total_blocks);
  observer::launch_begins({of.blocks, of.threads, of.launched_at, of.kernel});

  const auto wanted =
      std::min<std::uint64_t>(of.total_blocks, static_cast<unsigned>(number_of_sms()));
  std::vector<multiprocessor*> taking_part;
  for (unsigned i = 0; i < wanted; ++i) {
    if (i == multiprocessors_.size()) {
      multiprocessors_.push_back(std::make_unique<multiprocessor>(i));
    }
    multiprocessors_[i]->begin(of);
    taking_part.push_back(multiprocessors_[i].get());
  }

  // Idle turns since anything last moved, for each of `taking_part`.
  std::vector<unsigned> idle_turns(taking_part.size());
  std::vector<std::uint64_t> numbers, held_back;
  holds_block_.store(true, std::memory_order_relaxed);
  if (decisions* list = decisions::active()) {
    run_by_decisions(of, taking_part, *list);
    taking_part.clear();
  }
  while (!taking_part.empty() && !of.failed()) {
    numbers.clear();
    held_back.clear();
    for (const multiprocessor* each : taking_part) {
      numbers.push_back(each->block());
      held_back.push_back(each->held_back());
    }
    std::size_t chosen = order.next(numbers, held_back);
    // A block that waits for memory waits on until another one has changed some.
    if (idle_turns[chosen] != 0) {
      std::vector<std::size_t> least;
      const unsigned few = *std::min_element(idle_turns.begin(), idle_turns.end());
      for (std::size_t i = 0; i < idle_turns.size(); ++i) {
        if (idle_turns[i] == few) least.push_back(i);
      }
      chosen = least[order.any(least.size())];
    }
    multiprocessor& now = *taking_part[chosen];
    const std::uint64_t events_before = now.events();
    if (!now.take_turn()) {
      taking_part.erase(taking_part.begin() + static_cast<std::ptrdiff_t>(chosen));
      idle_turns.assign(taking_part.size(), 0);
      continue;
    }
    if (now.events() != events_before) events_.fetch_add(1, std::memory_order_relaxed);
    if (!now.was_idle()) {
      std::fill(idle_turns.begin(), idle_turns.end(), 0);
      continue;
    }
    ++idle_turns[chosen];
    constexpr unsigned enough = 3;
    if (*std::min_element(idle_turns.begin(), idle_turns.end()) >= enough) {
      fail_as_deadlock(of, taking_part);
    }
  }
  holds_block_.store(false, std::memory_order_relaxed);
  for (unsigned i = 0; i < wanted; ++i) multiprocessors_[i]->end();
  this_multiprocessor = nullptr;
  observer::launch_ends(of.failed());
}

// All blocks that start are resident. Each runs until all of its threads have come to a strong
// access or wait.
void player::run_by_decisions(grid& of, const std::vector<multiprocessor*>& resident,
                              decisions& list) {
  list.launch_begins(of.total_blocks, std::uint64_t{of.threads.x} * of.threads.y * of.threads.z,
                     of.cooperative);
  if (of.total_blocks > resident.size()) list.refuse("many_blocks");
  unstarted_.clear();
  for (multiprocessor* each : resident) {
    if (of.failed()) return;
    const std::uint64_t block = form::block_at(of.next_block.load());
    if (list.starts(block)) {
      each->take_turn();
    } else {
      ++of.next_block;
      unstarted_.push_back(block);
    }
  }
  std::vector<decisions::thread_name> parked;
  while (!of.failed()) {
    leave_grid_barriers(of, resident);
    parked.clear();
    bool any_block = false, any_goes_on = false;
    for (const multiprocessor* each : resident) {
      if (!each->has_block()) continue;
      any_block = true;
      for (const unsigned rank : each->parked()) {
        parked.emplace_back(each->block(), rank);
        any_goes_on |= !list.waits(parked.back());
      }
    }
    if (!any_block) {
      if (unstarted_.empty() || of.failed()) return;
      list.started_ones_ended();
      of.fail_first(cudaErrorLaunchTimeout);
      return;
    }
    if (of.failed()) return;
    if (!any_goes_on) {
      const bool in_vain = std::all_of(parked.begin(), parked.end(),
                                       [&](const auto& each) { return list.waits_in_vain(each); });
      if (in_vain) {
        for (const multiprocessor* each : resident) {
          if (each->has_block()) list.waits_for_ever(each->block());
        }
        return fail_as_deadlock(of, resident);
      }
      list.stopped_early();
      of.fail_first(cudaErrorLaunchTimeout);
      return;
    }
    const auto [block, rank] = list.next(parked);
    for (multiprocessor* each : resident) {
      if (!each->has_block() || each->block() != block) continue;
      each->decide(rank);
      each->take_turn();
      events_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void player::leave_grid_barriers(const grid& of, const std::vector<multiprocessor*>& resident) {
  const auto leaves = [](const multiprocessor* each) { return each->leaves_grid_barrier(); };
  for (;;) {
    const auto next = std::find_if(resident.begin(), resident.end(), leaves);
    if (next == resident.end() || of.failed()) return;
    (*next)->take_turn();
  }
}

void player::fail_as_deadlock(grid& of, const std::vector<multiprocessor*>& resident) {
  if (!of.fail_first(cudaErrorLaunchTimeout)) return;
  std::string text = ":\n";
  std::vector<diagnostic> waiting;
  for (const multiprocessor* each : resident) {
    if (!each->has_block()) continue;
    const std::vector<diagnostic> in_block =
        each->is_late() ? std::vector{diagnostic("late_block").add("block", each->block_index())}
                        : each->waiting_threads_of_block();
    text += heading_of(each->block_index()) + lines_of(in_block);
    waiting.insert(waiting.end(), in_block.begin(), in_block.end());
  }
  diagnostic deadlock = deadlock_of(of);
  if (!unstarted_.empty()) deadlock.add("unstarted", of.index_of(unstarted_.front()));
  if (unstarted_.size() > 1) deadlock.add("more", unstarted_.size() - 1);
  report_failure(of, deadlock, text);
  for (const diagnostic& each : waiting) write_record(each);
}

}  // namespace cpu_backend
